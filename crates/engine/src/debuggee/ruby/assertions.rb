# frozen_string_literal: true

module Stillframe
  # What a failed assertion compared, which the frames of its library contain.
  module Assertions
    # Comparisons of minitest's assertions: the operator, or the parameter that has it, and the parameters with the actual
    # and the expected value.
    MINITEST = {
      'assert_equal' => ['==', :act, :exp], 'assert_same' => ['equal?', :act, :exp], 'assert_nil' => [nil, :obj, nil],
      'assert_includes' => ['include?', :collection, :obj], 'assert_match' => ['=~', :obj, :matcher],
      'assert_operator' => [:op, :o1, :o2], 'refute_operator' => ['not', :o1, :o2],
      'assert_in_delta' => ['close to', :act, :exp], 'assert_kind_of' => ['kind_of?', :obj, :cls],
      'assert_instance_of' => ['instance_of?', :obj, :cls], 'assert_empty' => [nil, :obj, nil],
      'assert_respond_to' => ['respond_to?', :obj, :meth], 'refute_equal' => ['!=', :act, :exp],
      'assert_raises' => ['raises', :e, :exp], 'refute_nil' => [nil, :obj, nil], 'refute_includes' => ['exclude?', :collection, :obj]
    }.freeze

    # The same for test-unit's.
    TEST_UNIT = {
      'assert_equal' => ['==', :actual, :expected], 'assert_not_equal' => ['!=', :actual, :expected],
      'assert_same' => ['equal?', :actual, :expected], 'assert_match' => ['=~', :string, :pattern],
      'assert_operator' => [:operator, :object1, :object2], 'assert_compare' => [:operator, :expected, :actual],
      'assert_in_delta' => ['close to', :actual_float, :expected_float], 'assert_kind_of' => ['kind_of?', :object, :klass],
      'assert_instance_of' => ['instance_of?', :object, :klass], 'assert_include' => ['include?', :collection, :object],
      'assert_nil' => [nil, :object, nil], 'assert_not_nil' => [nil, :object, nil], 'assert_empty' => [nil, :object, nil],
      '_assert_raise' => ['raises', :actual_exception, :expected], 'assert_true' => [nil, :actual, nil], 'assert_false' => [nil, :actual, nil]
    }.freeze
    LIBRARIES = { 'minitest' => MINITEST, 'test/unit' => TEST_UNIT }.freeze

    class << self
      # At the throw of its failure.
      def failed(limit)
        all = DEBUGGER__.capture_frames(Agent::FOLDER).select(&:binding)
        user = all.index { |frame| Agent.user?(Frames.path(frame)) } or return nil
        found = all.first(user).reverse_each.filter_map { |frame| asserted(frame, limit) || rspec(frame, limit) }.first
        found && { expression: statement(all[user]), **found }
      end

      private

      def asserted(frame, limit)
        path = Frames.path(frame)
        comparisons = LIBRARIES.find { |name, _| path.include?(name) }&.last or return
        operator, actual, expected = comparisons[frame.location.base_label[/[^.#]+\z/]]
        return unless actual && frame.binding.local_variable_defined?(actual)
        operator = frame.binding.local_variable_get(operator).to_s if operator.is_a?(Symbol)
        right = expected && [frame.binding.local_variable_get(expected)]
        # Several classes of exceptions can be expected.
        right = right.first if operator == 'raises' && Array === right.first && right.first.size == 1
        sides(operator, frame.binding.local_variable_get(actual), limit, right)
      end

      def rspec(frame, limit)
        return unless Frames.path(frame).include?('rspec/expectations') && frame.location.base_label.end_with?('handle_matcher')
        binding = frame.binding
        matcher = binding.local_variable_get(:initial_matcher)
        actual = binding.local_variable_get(:actual)
        operator, left, right = block?(matcher, actual) ? of_block(matcher) : of_value(matcher, actual)
        return unless operator
        operator = "not #{operator}" if Values.plain_name(frame.self).to_s.include?('Negative')
        sides({ 'not ==' => '!=' }.fetch(operator, operator), left, limit, right)
      rescue NameError
        nil
      end

      def of_value(matcher, actual)
        operator = Values.type(matcher)[/[^:]+\z/].gsub(/(?<=[a-z])(?=[A-Z])/, '_').downcase
        [operator == 'eq' ? '==' : operator, actual, expected?(matcher) ? [matcher.expected] : nil]
      end

      def block?(matcher, actual)
        Proc === actual && matcher.respond_to?(:supports_block_expectations?) && matcher.supports_block_expectations?
      end

      # Such a matcher compares neither the block nor what is called its `expected`, but what the block did.
      def of_block(matcher)
        case Values.type(matcher)
        when /\ARSpec::Matchers::BuiltIn::RaiseError\z/ then raised(matcher)
        when /\ARSpec::Matchers::BuiltIn::Change/ then changed(matcher)
        end
      end

      def raised(matcher)
        error, type, message = read(matcher, :@actual_error, :@expected_error, :@expected_message)
        ['raise_error', error, [message && error && type === error ? message : type]]
      end

      def changed(matcher)
        details, delta, relation = read(matcher, :@change_details, :@expected_delta, :@relativity)
        before, after = read(details, :@actual_before, :@actual_after)
        return ["change #{relation}".tr('_', ' '), details.actual_delta, [delta]] if relation
        from, to, is_from = read(matcher, :@expected_before, :@expected_after, :@matches_before)
        return ['change', after, nil] if is_from.nil?
        return ['change from', before, [from]] unless is_from
        # Without `to`, any value is expected.
        ['change to', after, BasicObject.equal?(to) ? nil : [to]]
      end

      def read(object, *names) = names.map { |name| object.instance_variable_get(name) }

      # Matchers without an operand, such as `be_truthy`, and those that join others have the method, too.
      def expected?(matcher)
        return false if Values.type(matcher).include?('::Compound::')
        matcher.respond_to?(:expected) && (!matcher.expected.nil? || matcher.instance_variable_defined?(:@expected))
      end

      def sides(operator, actual, limit, expected)
        { operator: operator, left: side(actual, limit), right: expected && side(expected.first, limit) }.compact
      end

      def side(value, limit)
        text, length = Values.shown(value, limit)
        { text: text, type: Values.type(value), cut: !length.nil? }
      end

      def statement(frame)
        File.foreach(Frames.path(frame)).with_index(1).find { |_, line| line == frame.location.lineno }&.first&.strip
      rescue SystemCallError
        nil
      end
    end
  end
end
