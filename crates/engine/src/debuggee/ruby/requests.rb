# frozen_string_literal: true

module Stillframe
  # Handles requests. Those that need a suspended thread run in that thread.
  module Requests
    CAPABILITIES = {
      supportsConfigurationDoneRequest: true, supportsFunctionBreakpoints: true, supportsConditionalBreakpoints: true,
      supportsSetVariable: true, supportsExceptionInfoRequest: true, supportsDelayedStackTraceLoading: true,
      supportsEvaluateForHovers: true, supportTerminateDebuggee: true,
      exceptionBreakpointFilters: %w[all user uncaught].map { |name| { filter: name, label: name } }
    }.freeze
    VALUE = 4000

    @frames = {}
    @ids = {}
    @next = 0

    class << self
      def serve(request)
        arguments = request['arguments'] || {}
        case request['command']
        when 'initialize' then Agent.respond(request, body: CAPABILITIES)
        when 'identify' then Agent.respond(request, body: { token: Agent.token })
        when 'launch', 'attach' then begin_session(request, arguments)
        when 'setBreakpoints'
          found = Breakpoints.set_lines(arguments.dig('source', 'path'), arguments['breakpoints'] || [])
          Agent.respond(request, body: { breakpoints: found })
        when 'setFunctionBreakpoints'
          Agent.respond(request, body: { breakpoints: Breakpoints.set_functions(arguments['breakpoints'] || []) })
        when 'setExceptionBreakpoints'
          Throws.mode = arguments['filters'].first
          Agent.respond(request)
        when 'configurationDone'
          Agent.respond(request)
          Agent.ready
        when 'threads' then Agent.respond(request, body: { threads: threads })
        when 'pause'
          Agent.respond(request)
          Stops.stopped ? nil : Stops.pause
        when 'continue' then resume(request, nil)
        when 'next' then resume(request, :over)
        when 'stepIn' then resume(request, :in)
        when 'stepOut' then resume(request, :out)
        when 'stackTrace' then stack_trace(request, arguments)
        when 'scopes', 'variables', 'evaluate', 'setVariable', 'exceptionInfo', 'thrown'
          in_thread(request) { |client| public_send(request['command'], client, arguments) }
        when 'startSampling'
          Activity.start(arguments['interval'] / 1000.0)
          Agent.respond(request)
        when 'activity' then Agent.respond(request, body: Activity.take)
        when 'stopSampling'
          Activity.stop
          Agent.respond(request)
        when 'disconnect' then disconnect(request, arguments)
        else Agent.respond(request, success: false, message: "unknown request `#{request['command']}`")
        end
      rescue StandardError => error
        Agent.respond(request, success: false, message: "#{error.class}: #{error.message}")
      end

      def scopes(client, arguments)
        frame = frame(client, arguments['frameId'])
        locals = Values.hold(:locals, frame, frame)
        globals = Values.hold(:globals, nil, frame)
        { scopes: [
          { name: 'Locals', presentationHint: 'locals', variablesReference: locals, expensive: false },
          { name: 'Globals', presentationHint: 'globals', variablesReference: globals, expensive: false }
        ] }
      end

      def variables(client, arguments)
        held = Values.held(arguments['variablesReference'])
        limit = arguments['text'] || VALUE
        pairs = case held.kind
                when :locals then locals(client, held.value)
                when :globals then Globals.all
                else Values.parts(held.value, arguments['start'] || 0, arguments['count'] || 10_000)
                end
        pairs = [] if held.kind == :value && arguments['filter'] == 'named' && Values.sizes(held.value).first.positive?
        { variables: pairs.map { |name, value, hint| { name: name, **Values.show(value, held.frame, limit), **(hint || {}) } } }
      end

      def evaluate(client, arguments)
        frame = frame(client, arguments['frameId'])
        limit = arguments['text'] || VALUE
        value = if arguments['context'] == 'hover'
                  Pure.evaluate(frame, binding_of(client, frame), text_of(client, arguments['expression']))
                else
                  compute(client, frame, arguments['expression'], arguments['timeout'])
                end
        shown = Values.show(value, frame, limit)
        shown[:result] = shown.delete(:value)
        shown
      end

      def setVariable(client, arguments)
        held = Values.held(arguments['variablesReference'])
        value = compute(client, held.frame, arguments['value'], nil)
        name = arguments['name']
        case held.kind
        when :locals then assign_local(held.value, name, value)
        when :globals then Globals.assign(name, value)
        else Values.assign(held.value, name, value)
        end
        Values.show(value, held.frame, arguments['text'] || VALUE)
      end

      def exceptionInfo(client, _arguments)
        raise Refused, 'the program is not stopped at an exception' unless client.exception
        Throws.describe(client)
      end

      def thrown(client, arguments)
        client.exception ? Tests.thrown(client, arguments['text'] || VALUE) : {}
      end

      private

      def begin_session(request, arguments)
        Agent.just_my_code = arguments.fetch('justMyCode', true)
        Agent.respond(request)
        Agent.event('process', name: $PROGRAM_NAME, systemProcessId: Process.pid)
        Stops.stop_on_entry = arguments['stopOnEntry']
      end

      def threads = Stops.threads.map { |client| { id: client.id, name: client.name } }

      def resume(request, step)
        Agent.respond(request)
        Stops.resume { |client| step ? Steps.begin(client, step) : Steps.clear }
        @frames = {}
        @ids = {}
      end

      # To terminate, the program stays suspended until it is killed, so that it runs no further.
      def disconnect(request, arguments)
        Agent.respond(request)
        Agent.leave unless arguments['terminateDebuggee']
      end

      def in_thread(request)
        client = Stops.stopped
        return Agent.respond(request, success: false, message: 'the program runs') unless client
        client = @frames.dig(request.dig('arguments', 'frameId'), 0) || client
        client = Stops.by_id(request.dig('arguments', 'threadId')) || client
        return Agent.respond(request, success: false, message: 'this thread waits in native code, and can show its stack alone') unless client.parked?
        client.ask { answer(request) { yield client } }
      end

      def answer(request)
        Agent.respond(request, body: yield)
      rescue Refused => error
        Agent.respond(request, success: false, message: error.message)
      rescue Interrupted
        Agent.respond(request, success: false, message: 'Interrupted: the expression took too long')
      rescue Exception => error
        Agent.respond(request, success: false, message: described(error))
      end

      def described(error)
        text = Values.message(error)
        text = plain(text.lines.first.to_s.chomp) if NameError === error
        text = text.sub(/\A\(expression\):\d+: /, '') if SyntaxError === error
        "#{Values.type(error)}: #{text}"
      end

      # Removes the receiver, whose text contains an address.
      def plain(text)
        text = text.sub(/\A(undefined local variable or method .*?') for .*/, '\1')
        text = text.sub(/ for nil:NilClass\z/, ' for nil')
        text.sub(/ for #<([A-Z]\w*(?:::[A-Z]\w*)*).*\z/m, ' for an instance of \1').sub(/ for .+:([A-Z][\w:]*)\z/, ' for an instance of \1')
      end

      def stack_trace(request, arguments)
        client = Stops.by_id(arguments['threadId']) or raise Refused, "no thread #{arguments['threadId']}"
        start = arguments['startFrame'] || 0
        levels = arguments['levels'] || 0
        frames = client.parked? ? parked(client) : running(client)
        wanted = levels.zero? ? frames.drop(start) : frames[start, levels] || []
        Agent.respond(request, body: { stackFrames: wanted.map(&:call), totalFrames: frames.size })
      end

      def parked(client)
        client.frames.each_with_index.map do |frame, at|
          -> { described_frame(remember(client, at), Frames.name(frame), Frames.path(frame), frame.location.lineno) }
        end
      end

      def running(client)
        places = (client.thread.backtrace_locations || []).reject { |place| place.absolute_path.nil? || Agent.own?(place.absolute_path) }
        places.map do |place|
          -> { described_frame(remember(client, nil), place.label, place.absolute_path, place.lineno) }
        end
      end

      def described_frame(id, name, path, line)
        source = { name: File.basename(path), path: path }
        source[:presentationHint] = 'deemphasize' if path.start_with?('<internal:')
        { id: id, name: name, source: source, line: line, column: 1 }
      end

      def remember(client, at)
        return @ids[[client, at]] if at && @ids.key?([client, at])
        id = @next += 1
        @frames[id] = [client, at]
        @ids[[client, at]] = id
      end

      def frame(client, id)
        owner, at = @frames[id]
        raise Refused, 'the frame is gone' unless owner == client && at
        client.frames[at]
      end

      # At an exception, `error` refers to it, unless the program has a variable of that name.
      def binding_of(client, frame)
        binding = frame.binding or raise Refused, 'this frame has no variables'
        return binding unless client.exception
        names = [:_stillframe_error, :error].reject { |name| binding.local_variable_defined?(name) }
        binding = binding.dup
        names.each { |name| binding.local_variable_set(name, client.exception) }
        binding
      end

      # `$!` refers to it, too, which Ruby sets only when the exception is on its way.
      def text_of(client, expression)
        return expression unless client.exception && expression.include?('$!')
        tokens = Ripper.lex(expression)
        tokens.each_with_index.map do |(_, kind, text), at|
          next text unless kind == :on_gvar && text == '$!'
          tokens[at - 1][1] == :on_embvar ? '{_stillframe_error}' : '_stillframe_error'
        end.join
      end

      def compute(client, frame, expression, timeout)
        Evaluation.evaluate(binding_of(client, frame), text_of(client, expression), timeout ? timeout / 1000.0 : 5.0)
      end

      def locals(client, frame)
        binding = frame.binding or return []
        found = binding.local_variables.map { |name| [name.to_s, binding.local_variable_get(name)] }
        found.reject! { |name, _| name.start_with?('_stillframe') }
        receiver = binding.receiver
        found.unshift(['self', receiver]) unless receiver.equal?(TOPLEVEL_BINDING.receiver)
        hint = { presentationHint: { kind: 'virtual' } }
        if client.returned && client.frames.first.equal?(frame)
          found << ["(return) #{client.returned[0]}", client.returned[1], hint]
        end
        found
      end

      def assign_local(frame, name, value)
        binding = frame.binding
        raise Refused, "no variable `#{name}` here" unless
          name.match?(/\A[[:lower:]_]\w*\z/) && binding&.local_variable_defined?(name)
        binding.local_variable_set(name, value)
      end
    end
  end

  # Global variables and top-level constants of the program.
  module Globals
    VARIABLES = global_variables.freeze
    CONSTANTS = Object.constants.freeze

    class << self
      def all
        variables = (global_variables - VARIABLES).map { |name| [name.to_s, eval(name.to_s)] }
        constants = (Object.constants - CONSTANTS).filter_map do |name|
          next if Object.autoload?(name)
          value = Object.const_get(name)
          [name.to_s, value] unless Module === value
        end
        variables + constants
      end

      def assign(name, value)
        raise Refused, "no variable `#{name}` here" unless all.any? { |known, _| known == name }
        return Stillframe.const_set_quietly(name, value) unless name.start_with?('$')
        eval("#{name} = ObjectSpace._id2ref(#{value.object_id})")
      end
    end
  end

  def self.const_set_quietly(name, value)
    Object.send(:remove_const, name)
    Object.const_set(name, value)
  end
end
