# frozen_string_literal: true

module Stillframe
  # Formats values and lists their children. Objects of the program are read without calling their methods, except for
  # their own `inspect`, which has a time limit.
  module Values
    INSPECT = 0.25
    ITEMS = 100
    DEPTH = 6

    # The object of a reference, and the frame in which it was found.
    Held = Struct.new(:kind, :value, :frame)

    @held = {}

    class << self
      def forget = @held = {}

      def hold(kind, value, frame)
        number = @held.size + 1
        @held[number] = Held.new(kind, value, frame)
        number
      end

      def held(number) = @held[number] || raise(Refused, 'the value is gone')

      # Calls a method of a core class, bypassing overrides of the object's class.
      def call(kind, name, object, *arguments)
        kind.instance_method(name).bind_call(object, *arguments)
      end

      def kind(object)
        call(Kernel, :class, object)
      rescue TypeError
        BasicObject
      end

      def plain_name(kind) = call(Module, :name, kind)

      def type(object) = type_name(kind(object))

      def type_name(kind) = plain_name(kind) || 'an anonymous class'

      def message(error)
        Evaluation.within(INSPECT) { error.message.to_s }
      rescue Exception
        ''
      end

      # A value for the server.
      def show(object, frame, limit)
        text, length = shown(object, limit)
        indexed, named = sizes(object)
        reference = indexed + named > 0 ? hold(:value, object, frame) : 0
        { value: text, type: type(object), variablesReference: reference, indexedVariables: indexed,
          namedVariables: named, textLength: length }.compact
      end

      # A text, and the full length if it is truncated.
      def shown(object, limit)
        length = String === object ? call(String, :length, object) : 0
        return [call(String, :inspect, call(String, :[], object, 0, limit)), length] if length > limit
        text = render(object, limit + 1, DEPTH, [])
        text.length > limit ? [text[0, limit], text.length] : [text, nil]
      end

      def render(object, budget, depth, above)
        case object
        when nil, true, false, Integer, Float, Symbol then object.inspect
        when Numeric, Range, Regexp then safe_inspect(object)
        when String then call(String, :inspect, call(String, :[], object, 0, budget))
        when Array then nested(object, above, '[...]') { |inner| list(object, budget, depth, inner) }
        when Hash then nested(object, above, '{...}') { |inner| table(object, budget, depth, inner) }
        when Module then plain_name(object) || '#<Class>'
        when Struct then nested(object, above, '#<struct ...>') { |inner| structure(object, budget, depth, inner) }
        when Exception then "#<#{type(object)}: #{message(object)}>"
        when Proc, Method, UnboundMethod, Thread, IO then safe_inspect(object)
        else
          nested(object, above, "#<#{type(object)} ...>") do |inner|
            set?(object) ? "#<#{type(object)}: {#{list(object, budget, depth, inner)[1..-2]}}>" : other(object, budget, depth, inner)
          end
        end
      rescue StandardError
        "#<#{type(object)}>"
      end

      # The number of indexed and named children.
      def sizes(object)
        case object
        when Array then [call(Array, :size, object), 0]
        when Hash then [call(Hash, :size, object), 0]
        when String, Symbol, Numeric, nil, true, false then [0, 0]
        when Struct then [0, members(object).size + variables(object).size]
        when Range then [0, 0]
        when Module then [0, variables(object).size]
        when BasicObject then set?(object) ? [call(::Set, :size, object), 0] : [0, variables(object).size]
        end
      end

      # The items of a container, or its pairs, whatever its class makes of `each`.
      def items(object)
        case object
        when Array then call(Array, :to_a, object)
        when Hash then kind(object) == Hash ? object : call(Hash, :to_a, object)
        else call(::Set, :to_a, object)
        end
      end

      def members(struct) = call(Struct, :members, struct)

      def set?(object) = defined?(::Set) && ::Set === object

      def variables(object)
        call(Kernel, :instance_variables, object)
      rescue TypeError
        []
      end

      # Pairs of a name and a value.
      def parts(object, start, count)
        case object
        when Array then (items(object)[start, count] || []).each_with_index.map { |item, at| [(start + at).to_s, item] }
        when Hash
          items(object).each_with_index.lazy.drop(start).first(count).map { |(key, item), _| [render(key, 200, 2, []), item] }
        else
          return (items(object)[start, count] || []).each_with_index.map { |item, at| [(start + at).to_s, item] } if set?(object)
          fields = Struct === object ? members(object).map { |name| [name.to_s, call(Struct, :[], object, name)] } : []
          (fields + variables(object).map { |name| [name.to_s, call(Kernel, :instance_variable_get, object, name)] })
            .drop(start).first(count)
        end
      end

      # Assigns to a child of a value.
      def assign(object, name, value)
        if name.start_with?('@')
          missing(name, object) unless variables(object).include?(name.to_sym)
          object.instance_variable_set(name, value)
        elsif Array === object
          index = Integer(name, exception: false)
          missing(name, object) unless index&.between?(0, object.size - 1)
          object[index] = value
        elsif Hash === object
          key = object.each_key.find { |one| render(one, 200, 2, []) == name }
          missing(name, object) if key.nil? && name != 'nil'
          object[key] = value
        elsif Struct === object && members(object).include?(name.to_sym)
          object[name.to_sym] = value
        elsif set?(object)
          raise Refused, 'a Set cannot be assigned to'
        else
          missing(name, object)
        end
      end

      private

      def missing(name, object)
        raise Refused, "no `#{name}` in this #{type(object)}"
      end

      def nested(object, above, text)
        return text if above.any? { |one| one.equal?(object) } || above.size > DEPTH
        yield above + [object]
      end

      def list(object, budget, depth, above)
        items = items(object)
        return '[...]' if depth.zero? && items.size.positive?
        "[#{joined(items, items.size, budget) { |item, rest| render(item, rest, depth - 1, above) }}]"
      end

      def table(object, budget, depth, above)
        items = items(object)
        return '{...}' if depth.zero? && !items.empty?
        "{#{joined(items, items.size, budget) do |(key, item), rest|
          name = render(key, rest, depth - 1, above)
          "#{name}=>#{render(item, rest, depth - 1, above)}"
        end}}"
      end

      # As many as fit.
      def joined(items, size, budget)
        texts = []
        used = 0
        items.each do |item|
          if used > budget || texts.size == ITEMS
            texts << "... #{size - texts.size} more"
            break
          end
          texts << yield(item, [budget - used, 0].max)
          used += texts.last.length + 2
        end
        texts.join(', ')
      end

      def structure(object, budget, depth, above)
        own = inspected(object, Struct) and return own
        names = members(object)
        fields = joined(names, names.size, budget) do |name, rest|
          "#{name}=#{render(call(Struct, :[], object, name), rest, depth - 1, above)}"
        end
        "#<struct #{[plain_name(kind(object)), fields].compact.join(' ')}>"
      end

      def other(object, budget, depth, above)
        own = inspected(object, Kernel) and return own
        names = variables(object)
        fields = joined(names, names.size, budget) do |name, rest|
          "#{name}=#{render(call(Kernel, :instance_variable_get, object, name), rest, depth - 1, above)}"
        end
        "#<#{[type(object), fields.empty? ? nil : fields].compact.join(' ')}>"
      end

      # The result of the object's own `inspect`; nil without one.
      def inspected(object, core)
        method = call(Kernel, :method, object, :inspect)
        method.owner == core ? nil : safe_inspect(object)
      rescue StandardError
        "#<#{type(object)}>"
      end

      def safe_inspect(object)
        text = Evaluation.within(INSPECT) { object.inspect }
        String === text ? text : "#<#{type(object)}: inspect gave no text>"
      rescue Interrupted
        "#<#{type(object)}: inspect took too long>"
      rescue Exception => error
        "#<#{type(object)}: inspect raised #{type(error)}>"
      end
    end
  end
end
