# frozen_string_literal: true

module Stillframe
  # Decides which exceptions stop: uncaught ones, those that no user code catches, or all that reach user code. Handlers
  # are read from the source of the frames.
  module Throws
    # The lines of a `begin`, and the classes that its `rescue` names.
    Region = Struct.new(:lines, :classes)

    @files = {}
    @mode = nil
    @last = {}

    class << self
      def mode=(mode)
        @mode = mode
        @point&.disable
        @point = nil
        return if mode.nil?
        @point = TracePoint.new(:raise) { |at| raised(at.raised_exception, at.path) }
        @point.enable
      end

      def uncaught?(error) = error.equal?(@last[Thread.current]) && @uncaught

      # Describes an exception for the server.
      def describe(client)
        error = client.exception
        message = Values.message(error)
        trace = Array(Values.call(Exception, :backtrace, error)).grep_v(/\A#{Regexp.escape(Agent::FOLDER)}/).first(200)
        { exceptionId: Values.type(error), description: message, breakMode: client_uncaught(error) ? 'unhandled' : 'always',
          details: { message: message, typeName: Values.type(error), stackTrace: trace.join("\n") } }
      end

      private

      def client_uncaught(error) = @uncaught_error.equal?(error)

      def raised(error, _path)
        return if Agent.threads.include?(Thread.current) || SystemExit === error || Interrupted === error
        return if SignalException === error || @last[Thread.current].equal?(error)
        frames = Frames.capture
        return if frames.empty?
        catcher = frames.index { |frame| catches?(frame, error) }
        catcher = nil if catcher.nil? && !native_catch?(error)
        user = frames.index { |frame| Agent.user?(Frames.path(frame)) }
        return unless worth_a_stop?(catcher, user, frames)
        @last = { Thread.current => error }
        @uncaught_error = catcher.nil? && !native_catch?(error) ? error : nil
        Stops.suspend('exception', exception: error, text: Values.type(error), description: Values.message(error))
      end

      def worth_a_stop?(catcher, user, frames)
        return true if catcher.nil?
        case @mode
        when 'all' then user && user <= catcher
        when 'user' then user && user < catcher && !Agent.user?(Frames.path(frames[catcher]))
        else false
        end
      end

      # `loop` catches the StopIteration of an iterator.
      def native_catch?(error)
        StopIteration === error && caller_locations.any? { |place| place.label.end_with?('loop') }
      end

      def catches?(frame, error)
        line = frame.location.lineno
        regions(Frames.path(frame)).any? do |region|
          region.lines.cover?(line) && rescues?(region.classes, frame, error)
        end
      end

      def rescues?(classes, frame, error)
        return StandardError === error if classes.nil?
        binding = frame.binding or return true
        Evaluation.evaluate(binding, "[#{classes}]", 0.2).any? { |kind| kind === error }
      rescue Exception
        true
      end

      def regions(path)
        @files[path] ||= begin
          text = text_of(path)
          found = []
          collect(RubyVM::AbstractSyntaxTree.parse(text), text.lines, found)
          found
        rescue SystemCallError, SyntaxError, NotImplementedError, RuntimeError, ArgumentError
          []
        end
      end

      # RubyGems evaluates the text of its `require`, which tries each gem that is not active by a LoadError, under a
      # name of Ruby's own.
      def text_of(path)
        evaluated = path[/\A<internal:(.+)>\z/, 1]
        return File.read(path) if evaluated.nil?
        before, mark, text = File.read(evaluated).partition(/<<'RUBY'.*\n/)
        "\n" * (before + mark).count("\n") + text[/.*?(?=^RUBY$)/m].to_s
      end

      def collect(node, lines, found)
        return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)
        add(node, lines, found) if node.type == :RESCUE
        node.children.each { |child| collect(child, lines, found) }
      end

      def add(node, lines, found)
        body, clause = node.children
        while clause.is_a?(RubyVM::AbstractSyntaxTree::Node) && clause.type == :RESBODY && body
          kinds, _, following = clause.children
          classes = kinds && source(kinds, lines)
          found << Region.new(body.first_lineno..body.last_lineno, classes)
          clause = following
        end
      end

      def source(node, lines)
        part = lines[node.first_lineno - 1..node.last_lineno - 1].map(&:b)
        part[-1] = part[-1][0...node.last_column]
        part[0] = part[0][node.first_column..]
        part.join.force_encoding(Encoding::UTF_8)
      end
    end
  end
end
