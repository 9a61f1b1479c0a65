# frozen_string_literal: true

module Stillframe
  # Which fibers have resumed one another, by thread: what a fiber does not rescue is raised again in the one that
  # resumed it.
  module Fibers
    # A frame of a fiber that waits. Its variables cannot be reached.
    Frame = Struct.new(:iseq, :location) do
      def binding = TOPLEVEL_BINDING
    end

    @chains = {}.compare_by_identity
    @lock = Mutex.new

    class << self
      # Follows the fibers of this thread, and of those that begin later.
      def watch
        @chains = {}.compare_by_identity
        @chains[Thread.current] = [Fiber.current]
        @point ||= TracePoint.new(:fiber_switch, :thread_begin) { |at| at.event == :thread_begin ? begun : switched }
        @point.enable unless @point.enabled?
      end

      def leave
        @point&.disable
        @chains = {}.compare_by_identity
      end

      # The frames of the fibers that wait for the current one, innermost first.
      def waiting
        chain = @chains[Thread.current]
        return [] unless chain&.last.equal?(Fiber.current)
        chain[0...-1].reverse.flat_map { |fiber| frames(fiber) }
      end

      private

      def begun
        return if Agent.own_thread?(Thread.current)
        @lock.synchronize do
          @chains.delete_if { |thread, _| !thread.alive? }
          @chains[Thread.current] = [Fiber.current]
        end
      end

      def switched
        chain = @chains[Thread.current] or return
        fiber = Fiber.current
        at = chain.index { |one| one.equal?(fiber) }
        return chain.pop(chain.size - at - 1) if at
        chain.select!(&:alive?)
        chain << fiber
      end

      def frames(fiber)
        Array(fiber.backtrace_locations).filter_map do |location|
          code = Code.at(location)
          Frame.new(code, location) if code
        end
      end
    end
  end
end
