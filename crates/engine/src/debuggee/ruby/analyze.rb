# frozen_string_literal: true

# Analyzes a source file without running it. Reads a request from standard input and writes the answer to standard
# output, both as JSON.

require_relative 'loops'
require_relative 'wire'

module Stillframe
  module Analysis
    Node = RubyVM::AbstractSyntaxTree::Node

    class << self
      def answer(question)
        file = question['file']
        found = file ? of_file(file) : {}
        expressions = question['expressions'] + question['messages'].flat_map { |message| expressions_in(message) }
        found.merge(refused: expressions.filter_map { |text| refusal(text) })
      end

      private

      def of_file(file)
        text = File.read(file)
        code = RubyVM::InstructionSequence.compile(text, file, file)
        lines = {}
        collect_lines(code, lines)
        functions = []
        parsed = tree(text)
        collect_functions(parsed, [], functions)
        functions.sort_by!.with_index { |function, at| [function[:start], at] }
        { lines: lines.keys.sort, length: text.lines.size, functions: functions, loops: Loops.of(parsed, text) }
      rescue SyntaxError => error
        { error: problem(error.message, text) }
      rescue SystemCallError => error
        { error: "cannot be read: #{error.message}" }
      end

      # `FILE:2: syntax error, unexpected '\n'`, then the line with a mark under it.
      def problem(message, text)
        first = message.lines.first.to_s.chomp
        number, what = first.match(/:(\d+): (.*)\z/)&.captures
        return "cannot be compiled: SyntaxError: #{first}" unless number
        "cannot be compiled: SyntaxError: #{what} at line #{number}, `#{text.lines[number.to_i - 1].to_s.strip}`"
      end

      def tree(text)
        RubyVM::AbstractSyntaxTree.parse(text)
      rescue StandardError, NotImplementedError
        nil
      end

      def collect_lines(code, lines)
        code.trace_points.each { |line, event| lines[line] = true if event == :line }
        code.each_child { |child| collect_lines(child, lines) }
      end

      def collect_functions(node, above, found)
        return unless node.is_a?(Node)
        name = nil
        case node.type
        when :CLASS, :MODULE then name = constant(node.children[0])
        when :DEFN, :DEFS
          name = node.children[node.type == :DEFS ? 1 : 0].to_s
          body = first_line(node.children.last) || node.first_lineno
          found << { name: [*above, name].join('.'), start: node.first_lineno, header: node.first_lineno,
                     body: body, end: node.last_lineno }
        when :ITER then found.concat(generated(node, above))
        when :ALIAS, :FCALL then found.concat(aliased(node, above, found))
        end
        node.children.each { |child| collect_functions(child, name ? above + [name] : above, found) }
      end

      # `define_method(:name) { … }`
      def generated(node, above)
        call, scope = node.children
        name, = call.is_a?(Node) && call.type == :FCALL && call.children[0] == :define_method ? names(call) : []
        return [] unless name
        [{ name: [*above, name].join('.'), start: node.first_lineno, header: node.first_lineno,
           body: first_line(scope) || node.first_lineno, end: node.last_lineno }]
      end

      # `alias_method :name, :other` and `alias name other`: the function of the other name, if it is before them.
      def aliased(node, above, found)
        return [] unless node.type == :ALIAS || node.children[0] == :alias_method
        name, other = names(node)
        function = found.reverse.find { |one| one[:name] == [*above, other].join('.') }
        function ? [function.merge(name: [*above, name].join('.'))] : []
      end

      # The names that are the arguments of a call.
      def names(node)
        list = node.type == :ALIAS ? node : node.children[1]
        return [] unless list.is_a?(Node)
        list.children.grep(Node).filter_map { |part| part.children[0] if %i[LIT SYM STR].include?(part.type) }.map(&:to_s)
      end

      def constant(node)
        node.type == :COLON2 && node.children[0] ? "#{constant(node.children[0])}::#{node.children[1]}" : node.children.last.to_s
      end

      # The line of the first statement of a body.
      def first_line(scope)
        body = scope.is_a?(Node) ? scope.children[2] : nil
        body = body.children.first while body.is_a?(Node) && %i[BLOCK BEGIN].include?(body.type) && body.children.first.is_a?(Node)
        body.is_a?(Node) ? body.first_lineno : nil
      end

      def expressions_in(message)
        message.gsub(/\{\{|\}\}/, '').scan(/\{([^{}]*)\}/).flatten
      end

      def refusal(text)
        RubyVM::InstructionSequence.compile(text, '(expression)', '(expression)')
        text.strip.empty? ? { text: text, message: 'it is empty' } : nil
      rescue SyntaxError => error
        { text: text, message: "SyntaxError: #{error.message.lines.first.to_s.sub(/\A\(expression\):\d+: /, '').strip}" }
      end
    end
  end
end

$VERBOSE = nil
puts Stillframe::Wire.generate(Stillframe::Analysis.answer(Stillframe::Wire.parse($stdin.read)))
