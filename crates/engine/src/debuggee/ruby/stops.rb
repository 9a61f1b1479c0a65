# frozen_string_literal: true

module Stillframe
  # A thread of the program, and the requests that it handles while suspended.
  class Client
    attr_reader :thread, :id, :frames, :exception, :returned, :again

    def initialize(thread, id)
      @thread = thread
      @id = id
      @inbox = Queue.new
      @parked = false
    end

    def name
      return 'main' if @thread == Thread.main
      @thread.name || "thread #{@id}"
    end

    def parked? = @parked

    # Runs a block in the suspended thread.
    def ask(&block)
      @inbox << block
    end

    def resume
      @inbox << :resume
    end

    # Handles requests until the program is resumed. Frames deeper than `depth` have returned. With `again`, trace points
    # of the function are still to handle the event at which one of all code has stopped the thread.
    def park(exception: nil, returned: nil, depth: nil, again: false)
      @exception = exception
      @again = again
      @returned = returned
      @frames = Frames.capture
      @frames = @frames.select { |frame| frame.frame_depth <= depth } if depth
      @parked = true
      yield if block_given?
      loop do
        work = @inbox.pop
        break if work == :resume
        work.call
      end
    ensure
      @parked = false
      @frames = @exception = @returned = nil
    end
  end

  # Which threads are suspended, and why.
  module Stops
    @clients = {}
    @turn = Queue.new
    @turn << true
    @stopped = nil
    @pausing = false

    class << self
      attr_reader :stopped
      attr_accessor :stop_on_entry

      def client(thread = Thread.current)
        @clients[thread] ||= Client.new(thread, thread == Thread.main ? 1 : (@next = (@next || 1) + 1))
      end

      def threads
        @clients.select! { |thread, _| thread.alive? }
        Thread.list.reject { |thread| Agent.own_thread?(thread) }.map { |thread| client(thread) }.sort_by(&:id)
      end

      def by_id(id) = threads.find { |client| client.id == id }

      def pausing? = @pausing

      # Whether a trace point of all code handles an event, or may.
      def traces_all? = !@stopped.nil? || !@stopper.nil? || Steps.any? || @clients.values.any?(&:parked?)

      # Suspends the program in this thread. A thread that stops while another stop is reported waits for its turn.
      def suspend(reason, exception: nil, returned: nil, depth: nil, again: false, **body)
        client = self.client
        return if client.parked? || !Agent.active?
        until claim
          client.park
          return if reason == 'pause' || !Agent.active?
        end
        Steps.end_of(client)
        client.park(exception: exception, returned: returned, depth: depth, again: again) do
          @stopped = client
          @pausing = false
          hold_others(client)
          Agent.event('stopped', reason: reason, threadId: client.id, allThreadsStopped: true, **body)
        end
      end

      def pause
        @pausing = true
        @stopper = stopper
        @stopper.enable
        # A main thread that is blocked in a system call runs only signal handlers.
        Agent.own_thread('pause') do
          sleep 0.05
          Process.kill(:URG, Process.pid) if @pausing && @stopped.nil?
        end
      end

      def on_signal
        return unless @pausing && Thread.main == Thread.current
        client.parked? ? nil : suspend('pause')
      end

      # Resumes all threads; the block prepares the one that was stopped.
      def resume
        stopped = @stopped or return
        @stopper&.disable
        @stopper = nil
        yield stopped if block_given?
        Values.forget
        others = @clients.values.select { |client| client.parked? && client != stopped }
        @stopped = nil
        @turn << true
        (others + [stopped]).each(&:resume)
      end

      def forget_threads
        @clients = {}
        @turn = Queue.new
        @turn << true
        @stopped = nil
        @pausing = false
        @stopper&.disable
        @stopper = nil
      end

      private

      def claim
        @turn.pop(true)
      rescue ThreadError
        false
      end

      # Enabling it instruments all code, which takes a moment.
      def hold_others(client)
        return if @stopper || threads.all? { |other| other == client || other.parked? }
        @stopper = stopper
        @stopper.enable
      end

      def stopper
        TracePoint.new(:line) do |point|
          next if Agent.own?(point.path) || Agent.own_thread?(Thread.current)
          suspend('pause', again: true)
        end
      end
    end
  end

  # The frames of a thread, innermost first, without those of native functions and of this agent.
  module Frames
    class << self
      def capture
        DEBUGGER__.capture_frames(Agent::FOLDER).select { |frame| frame.iseq && !Agent.own?(frame.location.path) }
      end

      def name(frame)
        label = frame.location.label
        method = frame.location.base_label
        return label if label.match?(/[#.<]/) || !label.end_with?(method)
        label.delete_suffix(method) + owner(frame.class, frame.self) + method
      rescue StandardError
        label
      end

      # The depth of the frame whose trace point handler calls this.
      def depth = DEBUGGER__.frame_depth - 3

      def path(frame) = frame.location.absolute_path || frame.location.path

      # The class of a method as a prefix; empty for the main object.
      def owner(kind, receiver)
        return '' if kind.nil? || kind == Object || kind == Kernel || Values.type(receiver) == 'NilClass'
        return "#{Values.plain_name(receiver)}." if Module === receiver && kind.singleton_class?
        kind = Values.kind(receiver) if kind.singleton_class?
        name = Values.plain_name(kind)
        name ? "#{name}#" : ''
      end
    end
  end

  # Trace points of single functions that no longer have an effect. They are disabled while the program runs: if the last
  # one of a function is disabled while one of all code handles an event there, as where a thread is stopped, Ruby 3.1
  # uses what it has freed.
  module Retired
    @points = []

    class << self
      def add(point)
        @points << point
        @sweeper = Agent.own_thread('sweeper') { sweep } unless @sweeper&.alive?
      end

      private

      def sweep
        until @points.empty?
          sleep 0.1
          @points.shift.disable until @points.empty? || Stops.traces_all?
        end
      end
    end
  end

  # Steps of the thread that was stopped.
  module Steps
    BLOCK = /\Ablock /.freeze
    HANDLER = /\A(rescue|ensure) in /.freeze

    @points = []
    # Those of them that are for single functions.
    @of_functions = []

    class << self
      def begin(client, kind)
        frames = client.frames
        return if frames.empty?
        start = frames.first.frame_depth
        @again = client.again
        case kind
        when :in then watch_lines(client.thread)
        # Only lines of functions on the stack are traced: what they call runs at full speed.
        when :over then over(client.thread, frames, start)
        when :out then out(client, frames)
        end
      end

      def entry
        thread = Thread.current
        add(TracePoint.new(:line) do |point|
          next unless Thread.current == thread && Agent.shown?(point.path)
          clear
          Stops.suspend('entry', again: true)
        end).enable
      end

      def end_of(_client)
        clear
      end

      def clear
        points, @points = @points, []
        points.each { |point| @of_functions.delete(point) ? Retired.add(point) : point.disable }
      end

      def any? = !@points.empty?

      private

      def add(point)
        @points << point
        point
      end

      def watch_lines(thread)
        add(TracePoint.new(:line) do |point|
          next unless Thread.current == thread && Agent.shown?(point.path)
          next if Breakpoints.stops_at?(point)
          stop(again: true)
        end).enable
      end

      # A block in the function counts as part of it, wherever it is called, and so does what handles an exception.
      def over(thread, frames, start)
        line = frames.first.location.lineno
        blocks, handlers = [BLOCK, HANDLER].map { |label| Code.lines_of(frames.first.iseq, label).except(line) }
        returned, points = nil, @points
        watch_raises(thread)
        end_of_event(thread) if @again
        watch(:return, frames.first.iseq) do |at|
          returned = returned_by(at) if Thread.current == thread && Frames.depth == start
        end
        codes = goals(frames).select { |frame| Agent.shown?(Frames.path(frame)) }.map(&:iseq)
        codes.uniq { |code| Code.key(code) }.each do |code|
          is_first = code.equal?(frames.first.iseq)
          watch(:line, code) do |at|
            # It stays for a while after the step has ended.
            next if @again || Thread.current != thread || !@points.equal?(points)
            next unless Frames.depth <= start || (is_first && (blocks[at.lineno] || (handlers[at.lineno] && handler_of?(start))))
            stop(returned) unless Breakpoints.stops_at?(at)
          end
        end
      end

      # A new trace point of all code does not handle the event at which the thread has stopped, and handles the next one
      # before those of functions do.
      def end_of_event(thread)
        add(TracePoint.new(:line) do |at|
          next unless Thread.current == thread
          @again = false
          @points.delete(at)
          at.disable
        end).enable
      end

      # What the innermost frame is: a method, or a part of one, such as `rescue in total`.
      def label = Frames.capture.first&.iseq&.label.to_s

      # Whether the innermost frame handles an exception for the frame at a depth, and not for a call of the same function.
      def handler_of?(depth)
        Frames.capture.take_while { |frame| frame.frame_depth > depth }.all? { |frame| frame.iseq.label.match?(HANDLER) }
      end

      # The frames in which a step may end: not those between a block and its function.
      def goals(frames)
        first, *outer = frames
        return frames unless first.location.label.start_with?('block')
        key = Code.key(first.iseq)
        home = outer.index { |frame| Code.children(frame.iseq).any? { |code| Code.key(code) == key } }
        [first] + outer.drop(home || 0)
      end

      # Ends in the caller, on the line of the call, whose value is then known. If an exception leaves the function, it
      # ends where that is handled.
      def out(client, frames)
        # What handles an exception is a part of its function.
        callers = frames.drop_while { |frame| frame.iseq.label.match?(HANDLER) }.drop(1)
        to = callers.find { |frame| Agent.shown?(Frames.path(frame)) } or return
        depth, thread = to.frame_depth, client.thread
        watch_raises(thread) { |error| Throws.reaches?(error, Frames.capture, depth) }
        error = client.exception
        # In this form, an `ensure` runs for an exception that goes further.
        @raised = frames.first.iseq.label.start_with?('ensure in ') || (error && Throws.reaches?(error, frames, depth))
        add(TracePoint.new(:return, :b_return, :c_return, :end) do |at|
          # The frame of a native function has already been removed.
          next unless Thread.current == thread && Frames.depth == (at.event == :c_return ? depth : depth + 1)
          clear
          # The body of a class has no value.
          returned = returned_by(at) unless at.event == :end
          returned ? Stops.suspend('step', returned: returned, depth: depth) : handled(thread, depth)
        end).enable
      end

      def handled(thread, depth)
        add(TracePoint.new(:line) do |at|
          next unless Thread.current == thread && Agent.shown?(at.path)
          stop(again: true) if (Frames.depth <= depth || label.match?(HANDLER)) && !Breakpoints.stops_at?(at)
        end).enable
      end

      def watch_raises(thread)
        @raised = false
        add(TracePoint.new(:raise) do |at|
          @raised ||= !block_given? || yield(at.raised_exception) if Thread.current == thread
        end).enable
      end

      # A function that an exception leaves returns `nil`, as far as a trace point knows.
      def returned_by(point)
        [point.method_id.to_s, point.return_value] unless @raised && point.return_value.nil?
      end

      def watch(event, code, &block)
        point = TracePoint.new(event, &block)
        point.enable(target: code)
        @of_functions << point
        add(point)
      rescue ArgumentError
        nil
      end

      def stop(returned = nil, again: false)
        clear
        Stops.suspend('step', returned: returned, again: again)
      end
    end
  end
end
