class Scene:
    def __init__(self, threads): self.threads = threads
    def pending(self): return []
    def blocked(self, thread, stack): return None
