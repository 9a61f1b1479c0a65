# frozen_string_literal: true

# The loops of a source, for a program that does not end; `model::source::Loop` documents each field. If in doubt, less
# is claimed. Iterations by methods other than `loop` are left out: what they go through is in another frame.

module Stillframe
  class Loops
    Node = RubyVM::AbstractSyntaxTree::Node
    NEGATED = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '==' }.freeze
    OPERATORS = (NEGATED.keys + %i[+ - * / % ** & | ^ ! -@ +@]).freeze
    CALLS = %i[CALL OPCALL QCALL FCALL VCALL ITER SUPER ZSUPER ATTRASGN BLOCK_PASS XSTR DXSTR].freeze
    SCOPES = %i[DEFN DEFS CLASS MODULE SCLASS LAMBDA].freeze
    VARIABLES = %i[LVAR DVAR IVAR GVAR CVAR].freeze
    ASSIGNMENTS = %i[LASGN DASGN DASGN_CURR IASGN GASGN CVASGN].freeze
    LITERALS = %i[LIT INTEGER FLOAT TRUE FALSE NIL STR].freeze
    EXITS = %i[raise throw exit exit! abort fail].freeze

    def self.of(tree, text)
      found = []
      new(text.lines).collect(tree, found)
      found.sort_by { |each| [each[:start], -each[:end]] }
    end

    def initialize(lines)
      @lines = lines
    end

    def collect(node, found)
      return unless node.is_a?(Node)
      found << described(node) if loop?(node)
      node.children.each { |child| collect(child, found) }
    end

    private

    def loop?(node)
      %i[WHILE UNTIL].include?(node.type) || node.type == :ITER && bare_call?(node.children[0], [:loop])
    end

    def bare_call?(node, names)
      node.is_a?(Node) && %i[FCALL VCALL].include?(node.type) && names.include?(node.children[0])
    end

    def described(node)
      test, body = node.type == :ITER ? [nil, node.children[1]] : node.children
      continues = node.type != :UNTIL
      always = test.nil? || constant(test) == continues
      exit = leaves?(body)
      nodes = every(body) + every(test)
      { start: node.first_lineno, end: node.last_lineno, goes_through: false, has_exit: exit,
        is_endless: always && !exit, is_certain: false, is_closed: closed?(nodes),
        condition: always ? [] : comparisons(test, continues) || [],
        variables: names(every(test), VARIABLES), assigned: names(nodes, ASSIGNMENTS) }
    end

    def constant(test)
      case test.type
      when :TRUE, :LIT, :INTEGER, :STR then true
      when :FALSE, :NIL then false
      end
    end

    # All nodes in one that belong to the same method.
    def every(node)
      return [] if !node.is_a?(Node) || SCOPES.include?(node.type)
      [node] + node.children.flat_map { |child| every(child) }
    end

    # A `break` in a block or in another loop leaves only that; `next` leaves nothing.
    def leaves?(node, inner = false)
      return false if !node.is_a?(Node) || SCOPES.include?(node.type)
      return !inner if node.type == :BREAK
      return true if %i[RETURN YIELD].include?(node.type) || bare_call?(node, EXITS)
      inside = inner || %i[WHILE UNTIL FOR ITER].include?(node.type)
      node.children.any? { |child| leaves?(child, inside) }
    end

    # Nothing but variables and operators on them.
    def closed?(nodes)
      nodes.none? do |node|
        next false unless CALLS.include?(node.type)
        !(%i[CALL OPCALL].include?(node.type) && OPERATORS.include?(node.children[1]))
      end
    end

    # Those that are all needed for the loop to continue; nil if a part cannot be evaluated without a call, or does not
    # compare anything: 0 is true in Ruby.
    def comparisons(test, continues)
      if test.type == (continues ? :AND : :OR)
        parts = test.children.map { |part| comparisons(part, continues) }
        return parts.all? ? parts.flatten : nil
      end
      left, operator, list = test.children if test.type == :OPCALL
      return comparisons(left, !continues) if operator == :!
      return nil unless NEGATED.key?(operator)
      right = list.children[0]
      sign = continues ? operator : NEGATED[operator]
      [left, right].all? { |side| plain?(side) } ? [{ left: text(left), operator: sign, right: text(right) }] : nil
    end

    def plain?(node)
      every(node).all? { |each| (VARIABLES + LITERALS).include?(each.type) } && node.first_lineno == node.last_lineno
    end

    def text(node)
      @lines[node.first_lineno - 1].byteslice(node.first_column...node.last_column)
    end

    def names(nodes, types)
      nodes.select { |node| types.include?(node.type) }.map { |node| node.children[0].to_s }.uniq.sort
    end
  end
end
