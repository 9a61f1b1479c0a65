# frozen_string_literal: true

module Stillframe
  # The code that the program has loaded, by file.
  module Code
    @files = {}
    @real = {}

    class << self
      # Adds code when it is loaded. A text that the program evaluates is of use only if it defines a method.
      def add(code)
        path = real(code.absolute_path || code.path)
        (@files[path] ||= []) << code if path.start_with?('/') || children(code).any? { |child| method?(child) }
        path
      end

      # Adds code that was loaded before this agent.
      def add_all
        found = []
        ObjectSpace.each_iseq { |code| found << code unless Agent.own?(code.path) }
        inner = found.flat_map { |code| children(code) }.to_h { |code| [key(code), true] }
        found.uniq { |code| key(code) }.each { |code| add(code) unless inner[key(code)] }
      end

      def of(path) = @files[path] || []

      def files = @files.keys.reject { |path| Agent.internal?(path) || !path.start_with?('/') }

      # Yields code and all that is in it, each with the names of the classes around it.
      def walk(code, around = [], &block)
        yield code, around
        inner = code.label[/\A<(?:class|module):(.+)>\z/, 1]
        code.each_child { |child| walk(child, inner ? [*around, inner] : around, &block) }
      end

      # The code of a place in a backtrace; none for a native function.
      def at(location)
        path = location.absolute_path or return
        of(real(path)).each do |top|
          walk(top) { |code| return code if same_function?(code, location) && line?(code, location.lineno) }
        end
        nil
      end

      def children(code)
        found = []
        code.each_child { |child| walk(child) { |one| found << one } }
        found
      end

      # The lines of a file on which code can stop.
      def lines(path)
        found = {}
        of(path).each { |top| walk(top) { |code| each_line_of(code) { |line| found[line] = true } } }
        found.keys.sort
      end

      # The lines of parts of a function that have separate frames, such as its blocks.
      def lines_of(code, label, found = {})
        code.each_child do |child|
          next unless child.label.match?(label)
          each_line_of(child) { |line| found[line] = true }
          lines_of(child, label, found)
        end
        found
      end

      def each_line_of(code)
        code.trace_points.each { |line, event| yield line if event == :line }
      end

      # Methods that the source defines under a name, each with the names of the classes around it.
      def methods_named(name)
        every_method.select { |code, _| name == code.label.split(/[.#]/).last }
      end

      def every_method
        found = []
        @files.each_value do |tops|
          tops.each { |top| walk(top) { |code, around| found << [code, around] if method?(code) } }
        end
        found
      end

      def method?(code) = code.label !~ /[<> ]/ && code.trace_points.any? { |_, event| event == :call }

      def without_lines?(code) = code.trace_points.none? { |_, event| event == :line }

      def real(path)
        @real[path] ||= begin
          File.realpath(path)
        rescue SystemCallError
          path
        end
      end

      # Identifies code that several objects represent.
      def key(code) = [code.path, code.first_lineno, code.label, code.trace_points]

      private

      # Newer versions of Ruby name the class in the labels of a backtrace.
      def same_function?(code, location)
        code.base_label == location.base_label && code.label[/\A.* in /] == location.label[/\A.* in /]
      end

      def line?(code, line) = code.trace_points.any? { |at, event| at == line && event == :line }
    end
  end

  # A breakpoint, bound to trace points of loaded code.
  class Breakpoint
    attr_reader :id, :line

    def initialize(id, condition)
      @id = id
      @condition = condition
      @points = []
    end

    def bound? = !@points.empty?

    # The client hears when this changes.
    def place = [bound?, @path, @line]

    def answer
      { id: @id, verified: bound?, line: @line, message: bound? ? nil : missing }.compact
    end

    def disable
      points, @points = @points, []
      points.each { |point| Retired.add(point) }
    end

    # A failing condition stops the program: the server reports why, and resumes it.
    def met?(point)
      return true if @condition.nil?
      Evaluation.evaluate(point.binding, @condition, Agent::CONDITION) ? true : false
    rescue Exception
      true
    end

    private

    def watch(event, **where)
      point = TracePoint.new(event) { |at| yield at if @points.include?(point) }
      point.enable(**where)
      @points << point
    rescue ArgumentError
      nil
    end
  end

  # A breakpoint on a line.
  class LineBreakpoint < Breakpoint
    def initialize(id, path, line, condition)
      super(id, condition)
      @path = path
      @asked = line
    end

    attr_reader :path

    def bind
      lines = Code.lines(@path)
      @line = lines.find { |line| line >= @asked } or return false
      Code.of(@path).each { |code| bind_to(code) }
      bound?
    end

    def missing
      return 'its file is not loaded yet; it binds when the program loads it' if Code.of(@path).empty?
      'no code is at this line or after it'
    end

    private

    def bind_to(code)
      watch(:line, target: code, target_line: @line) { |at| hit(at) }
      # The body of a method such as `def twice(n) = n * 2` has no line: only its call is an event.
      Code.walk(code) do |method|
        next unless method.first_lineno == @line && Code.method?(method) && Code.without_lines?(method)
        watch(:call, target: method) { |at| hit(at) }
      end
    end

    def hit(at)
      return if Agent.own_thread?(Thread.current) || !met?(at)
      Stops.suspend('breakpoint', hitBreakpointIds: [@id])
    end
  end

  # A breakpoint on the entry of a function.
  class FunctionBreakpoint < Breakpoint
    def initialize(id, name, condition)
      super(id, condition)
      @name = name
      @class, @method = name =~ /\A(.+)(?:\.|#|::)([^.#:]+)\z/ ? [Regexp.last_match(1), Regexp.last_match(2)] : [nil, name]
      @seen = {}
      @entered = {}
    end

    # `kinds` are classes that may have the method though no source defines it under this name.
    def bind(kinds = [])
      resolve
      named = Code.methods_named(@method)
      named = owned(named) if @class
      codes = named.map(&:first)
      codes += generated(kinds, named) unless @class && codes.any?
      codes.each { |code| bind_to(code) }
      bound?
    end

    # Whether a class that the program has just defined may have more of what this stops in.
    def concerns?(kind)
      return true unless bound?
      @class ? !@resolved && owners.any? : has_own?(kind)
    end

    def answer
      @path ? super.merge(source: { path: @path }) : super
    end

    def missing
      near = Code.every_method.map { |code, _| code.label.split(/[.#]/).last }.uniq
      near = near.select { |name| name.downcase.include?(@method.downcase[0, 3]) }.first(3)
      near = near.empty? ? '' : "; loaded are #{near.join(', ')}"
      "the program has loaded no function `#{@name}` of its own so far, and stops when one is entered#{near}"
    end

    private

    # Until the program has the class, other classes with a longer name may be meant.
    def resolve
      return if @class.nil? || @resolved || owners.empty?
      @resolved = true
      disable
      @seen.clear
      @path = @line = nil
    end

    # The methods that the source of the class has, which may be wrapped when it runs, or else what it inherits.
    def owned(codes)
      kind, = owners
      own = codes.select { |_, around| kind ? names?(kind, around.join('::')) : same_class?(@class, around.join('::')) }
      exact = own.select { |_, around| around.join('::') == @class }
      return exact unless exact.empty?
      return own unless own.empty?
      places = methods_of(owners).map(&:source_location)
      codes.select { |code, _| places.include?([code.path, code.first_lineno]) }
    end

    # Whether a name in the source is that of a class. It may leave out the modules around it, as in `class Deep::Shop`.
    def names?(kind, name)
      full = Values.call(Module, :name, kind) || @class or return false
      full.size >= name.size && same_class?(full, name) && [nil, kind].include?(constant(name))
    end

    # Either name may leave out the modules around the class.
    def same_class?(one, other)
      shorter, longer = [one, other].minmax_by(&:size)
      longer == shorter || longer.end_with?("::#{shorter}")
    end

    # The class, and what has its class methods.
    def owners
      kind = constant(@class)
      kind ? [kind, kind.singleton_class] : []
    end

    # The class of this name, which is not loaded for that.
    def constant(name)
      kind = name.split('::').inject(Object) do |scope, part|
        return if !scope.const_defined?(part) || scope.autoload?(part)
        scope.const_get(part)
      end
      kind if Module === kind
    rescue NameError, TypeError
      nil
    end

    def methods_of(kinds)
      kinds.filter_map { |kind| kind.instance_method(@method) rescue nil }
    end

    # The code of methods that `define_method` or `alias_method` has made.
    def generated(kinds, named)
      kinds = @class ? owners : kinds.select { |kind| has_own?(kind) && !written?(kind, named) }
      codes = methods_of(kinds).filter_map { |method| RubyVM::InstructionSequence.of(method) }
      codes.select { |code| Agent.shown?(code.absolute_path.to_s) }
    end

    # Whether the source of a class has one of the methods: what else the class has under the name wraps it.
    def written?(kind, named)
      named.any? { |_, around| names?(kind, around.join('::')) }
    end

    def has_own?(kind)
      %i[method_defined? private_method_defined?].any? { |has| Values.call(Module, has, kind, @method, false) }
    end

    def bind_to(code)
      where = [code.path, code.first_lineno]
      return if @seen[where]
      @seen[where] = true
      first, = code.trace_points.find { |_, event| event == :line }
      @path ||= code.path
      @line ||= first || code.first_lineno
      # Stops on the first line of the body, once per call. A block is the body of a method that `define_method` makes.
      watch(Code.method?(code) ? :call : :b_call, target: code) do |at|
        next unless named?(at) && !Agent.own_thread?(Thread.current)
        first ? @entered[Thread.current] = true : hit(at)
      end
      return unless first
      watch(:line, target: code, target_line: first) do |at|
        hit(at) if @entered.delete(Thread.current)
      end
    end

    # A method may be called by another name than that of its definition.
    def named?(at) = [at.method_id, at.callee_id].any? { |name| name.to_s == @method }

    def hit(at)
      Stops.suspend('breakpoint', hitBreakpointIds: [@id]) if met?(at)
    end
  end

  # All breakpoints.
  module Breakpoints
    @lines = {}
    @functions = []
    @next = 0

    class << self
      # Whether one of them stops the program where a trace point is.
      def stops_at?(point)
        @lines.fetch(Code.real(point.path), []).any? do |breakpoint|
          breakpoint.line == point.lineno && breakpoint.bound? && breakpoint.met?(point)
        end
      end

      def set_lines(path, wanted)
        path = Code.real(path)
        (@lines[path] || []).each(&:disable)
        @lines[path] = wanted.map do |one|
          breakpoint = LineBreakpoint.new(number, path, one['line'], one['condition'])
          breakpoint.bind
          breakpoint
        end
        @lines[path].map(&:answer)
      end

      def set_functions(wanted)
        @functions.each(&:disable)
        @functions = wanted.map do |one|
          breakpoint = FunctionBreakpoint.new(number, one['name'], one['condition'])
          breakpoint.bind(ObjectSpace.each_object(Module))
          breakpoint
        end
        @functions.map(&:answer)
      end

      def loaded(code)
        path = Code.add(code)
        bind_new(@lines.fetch(path, []).reject { |breakpoint| breakpoint.bound? && Code.of(path).size == 1 })
        return if @functions.empty?
        bind_new(@functions)
      end

      # A class has its methods only after its body has run.
      def defined(kind)
        bind_new(@functions.select { |function| function.concerns?(kind) }) { |function| function.bind([kind]) }
      end

      def functions? = @functions.any?

      # Breakpoints in files that were never loaded.
      def report_unloaded
        @lines.each do |path, breakpoints|
          next unless Code.of(path).empty?
          near = Code.files.sort_by { |file| distance(File.basename(file).downcase, File.basename(path).downcase) }.first(3)
          near = near.empty? ? '' : "; it has loaded #{near.join(', ')}"
          breakpoints.each do |breakpoint|
            answer = { id: breakpoint.id, verified: false, message: "the program has not loaded #{path}#{near}" }
            Agent.event('breakpoint', reason: 'changed', breakpoint: answer)
          end
        end
      end

      def clear
        @lines.each_value { |all| all.each(&:disable) }
        @functions.each(&:disable)
        @lines = {}
        @functions = []
      end

      private

      # The approximate number of different letters: a common beginning and end are ignored.
      def distance(one, other)
        same = one.each_char.zip(other.each_char).take_while { |left, right| left == right }.size
        [one.size, other.size].max - same
      end

      def bind_new(breakpoints, &bind)
        bind ||= :bind.to_proc
        breakpoints.each do |breakpoint|
          was = breakpoint.place
          breakpoint.disable if breakpoint.is_a?(LineBreakpoint)
          bind.call(breakpoint)
          next if !breakpoint.bound? || breakpoint.place == was
          Agent.event('breakpoint', reason: 'changed', breakpoint: breakpoint.answer)
        end
      end

      def number = @next += 1
    end
  end
end
