# frozen_string_literal: true

module Stillframe
  # Decides which exceptions stop: uncaught ones, those that no user code catches, or all that reach user code. Handlers
  # are read from the compiled code of the frames, and the classes that they catch from its source.
  module Throws
    # A `rescue` or `ensure`: its kind, where in the source it is, the instructions that it guards, and the one that
    # comes after it, which its function is at while it runs.
    Handler = Struct.new(:kind, :place, :guarded, :after)
    # The handlers of a function, its instructions by their lines, and where in the source the function is.
    Table = Struct.new(:handlers, :lines, :place)
    MOST = 2000
    # How many causes are shown.
    CAUSES = 20

    @tables = {}.compare_by_identity
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

      # Describes an exception for the server.
      def describe(client)
        error = client.exception
        message = Values.message(error)
        { exceptionId: Values.type(error), description: message, breakMode: client_uncaught(error) ? 'unhandled' : 'always',
          details: { message: message, typeName: Values.type(error), stackTrace: [*trace(error), *causes(error)].join("\n") } }
      end

      # Whether an exception reaches the frame at a depth: no function that this one called catches it.
      def reaches?(error, frames, depth)
        catcher = catcher(error, frames)
        catcher.nil? || frames[catcher].frame_depth <= depth
      end

      private

      # Which frame catches an exception.
      def catcher(error, frames)
        frames.each_index.find { |at| catches?(frames[at], at.positive? ? frames[at - 1] : nil, error) }
      end

      def trace(error)
        Array(Values.call(Exception, :backtrace, error)).grep_v(/\A#{Regexp.escape(Agent::FOLDER)}/).first(200)
      end

      # The causes of an exception, each with its backtrace.
      def causes(error)
        chain = [error]
        while (cause = Values.call(Exception, :cause, chain.last)) && chain.none? { |one| one.equal?(cause) }
          chain << cause
        end
        chain.drop(1).first(CAUSES).flat_map do |one|
          ["Caused by #{Values.type(one)}: #{Values.message(one)}", *trace(one)]
        end
      end

      def client_uncaught(error) = @uncaught_error.equal?(error)

      def raised(error, _path)
        return if Agent.own_thread?(Thread.current) || SystemExit === error || Interrupted === error
        return if SignalException === error || @last[Thread.current].equal?(error)
        frames = Frames.capture
        return if frames.empty?
        frames += Fibers.waiting
        catcher = catcher(error, frames)
        return if catcher.nil? && @mode != 'all' && native_catch?(error)
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

      # Whether a frame catches what reaches it from the one above it, if there is one.
      def catches?(frame, above, error)
        table = table(frame.iseq)
        running = above && table.handlers.find { |handler| handler.place == table(above.iseq).place }
        places = running ? [running.after - 1] : table.lines.fetch(frame.location.lineno, [])
        table.handlers.any? do |handler|
          handler.kind == :rescue && places.any? { |place| handler.guarded.cover?(place) } &&
            classes(Frames.path(frame)).fetch(handler.place, [nil]).any? { |names| rescues?(names, frame, error) }
        end
      end

      def table(code)
        @tables.clear if @tables.size > MOST
        @tables[code] ||= begin
          parts = code.to_a
          at = {}
          lines = Hash.new { |all, line| all[line] = [] }
          line = count = 0
          parts[13].each do |one|
            case one
            when Integer then line = one
            when Symbol then at[one] = count
            when Array
              lines[line] << count
              count += 1
            end
          end
          handlers = parts[12].filter_map do |kind, handler, from, to, after|
            Handler.new(kind, handler[4][:code_location], at[from]...at[to], at[after]) if %i[rescue ensure].include?(kind)
          end
          Table.new(handlers, lines, parts[4][:code_location])
        end
      end

      def rescues?(classes, frame, error)
        return StandardError === error if classes.nil?
        binding = frame.binding or return true
        Evaluation.evaluate(binding, "[#{classes}].flatten", 0.2).any? { |kind| kind === error }
      rescue Exception
        true
      end

      # What each `rescue` of a file names, by its place.
      def classes(path)
        @files[path] ||= begin
          text = text_of(path)
          found = {}
          collect(RubyVM::AbstractSyntaxTree.parse(text), text.lines, found)
          found
        rescue SystemCallError, SyntaxError, NotImplementedError, RuntimeError, ArgumentError
          {}
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
        clause = first = node.children[1]
        names = []
        while clause.is_a?(RubyVM::AbstractSyntaxTree::Node) && clause.type == :RESBODY
          kinds, _, following = clause.children
          names << (kinds && source(kinds, lines))
          clause = following
        end
        found[[first.first_lineno, first.first_column, first.last_lineno, first.last_column]] = names unless names.empty?
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
