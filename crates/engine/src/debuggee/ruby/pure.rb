# frozen_string_literal: true

require 'ripper'

module Stillframe
  # Evaluates expressions that run no code of the program: names, constants, literals, operators and lookups of core
  # classes, and `attr_reader` methods.
  module Pure
    CORE = [Integer, Float, String, Symbol, Array, Hash, NilClass, TrueClass, FalseClass, Range].freeze
    METHODS = %i[
      + - * / % ** == != < > <= >= <=> === ! -@ +@ & | ^ [] size length first last empty? include? key? keys values min max
      sum even? odd? zero? nil? to_s to_i to_f to_sym inspect abs join reverse sort uniq count index dig fetch
      start_with? end_with? upcase downcase strip begin end
    ].freeze
    ANY = %i[nil? equal? class object_id is_a? kind_of? instance_of? instance_variable_get respond_to?].freeze

    class << self
      def evaluate(frame, binding, text)
        tree = Ripper.sexp(text) or raise Refused, 'the expression has a syntax error'
        body = tree[1]
        refuse unless body.size == 1
        @frame = frame
        @binding = binding
        value(body.first)
      end

      private

      def refuse(what = 'this expression')
        raise Refused, "#{what} may have side effects; leave `sideEffects` out, or ask for names and attributes only"
      end

      def value(node)
        case node
        in [:var_ref | :vcall, [:@ident, name, _]] then variable(name)
        in [:var_ref, [:@kw, 'self', _]] then @binding.receiver
        in [:var_ref, [:@kw, 'nil', _]] then nil
        in [:var_ref, [:@kw, 'true', _]] then true
        in [:var_ref, [:@kw, 'false', _]] then false
        in [:var_ref, [:@ivar, name, _]] then Values.call(Kernel, :instance_variable_get, @binding.receiver, name)
        in [:var_ref, [:@gvar | :@cvar, *]] then @binding.eval(node[1][1])
        in [:var_ref, [:@const, name, _]] then constant(@binding.eval('Module.nesting').first || Object, name)
        in [:const_path_ref, scope, [:@const, name, _]] then constant(value(scope), name)
        in [:@int, text, _] then Integer(text)
        in [:@float, text, _] then Float(text)
        in [:string_literal, [:string_content]] then +''
        in [:string_literal, [:string_content, [:@tstring_content, text, _]]] then text.dup
        in [:symbol_literal, [:symbol, [_, name, _]]] then name.to_sym
        in [:paren, [inner]] then value(inner)
        in [:array, nil] then []
        in [:array, items] then items.map { |item| value(item) }
        in [:binary, left, :'&&' | :and, right] then value(left) && value(right)
        in [:binary, left, :'||' | :or, right] then value(left) || value(right)
        in [:binary, left, operator, right] then send_core(value(left), operator, [value(right)])
        in [:unary, :! | :not, inner] then !value(inner)
        in [:unary, operator, inner] then send_core(value(inner), operator, [])
        in [:aref, object, [:args_add_block, arguments, false]] then send_core(value(object), :[], arguments.map { |one| value(one) })
        in [:call, object, _, [_, name, _]] then send_any(value(object), name.to_sym, [])
        in [:method_add_arg, [:call, object, _, [_, name, _]], arguments] then send_any(value(object), name.to_sym, arguments_of(arguments))
        else refuse
        end
      end

      def arguments_of(node)
        case node
        in [:arg_paren, nil] then []
        in [:arg_paren, [:args_add_block, arguments, false]] then arguments.map { |one| value(one) }
        else refuse
        end
      end

      def variable(name)
        return @binding.local_variable_get(name) if @binding.local_variable_defined?(name)
        read(@binding.receiver, name.to_sym) { raise NameError, "undefined local variable or method `#{name}'" }
      end

      def constant(scope, name)
        refuse("`#{name}`, which is loaded when it is used,") if scope.autoload?(name)
        scope.const_defined?(name) ? scope.const_get(name) : raise(NameError, "uninitialized constant #{name}")
      end

      def send_any(object, name, arguments)
        return Values.call(Kernel, name, object, *arguments) if ANY.include?(name)
        return object[name] if Struct === object && arguments.empty? && object.members.include?(name) && Values.call(Kernel, :method, object, name).source_location.nil?
        read(object, name) { return send_core(object, name, arguments) }
      end

      # An `attr_reader` method has neither code nor parameters, and an instance variable of its name.
      def read(object, name)
        method = Values.call(Kernel, :method, object, name)
        is_reader = method.arity.zero? && RubyVM::InstructionSequence.of(method).nil? && method.source_location
        is_reader ? Values.call(Kernel, :instance_variable_get, object, "@#{name}") : yield
      rescue NameError
        yield
      end

      def send_core(object, name, arguments)
        method = METHODS.include?(name) && Values.call(Kernel, :method, object, name)
        is_core = CORE.include?(Values.kind(object)) && method && method.source_location.nil?
        (is_core && arguments.all? { |one| CORE.include?(Values.kind(one)) }) or refuse("`#{name}`")
        object.public_send(name, *arguments)
      end
    end
  end
end
