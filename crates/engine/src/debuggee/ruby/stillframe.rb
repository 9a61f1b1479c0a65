# frozen_string_literal: true

# Debugs the Ruby program that loads it: a server of the Debug Adapter Protocol on top of the native part of the debug
# gem, which provides frames and their bindings. It connects to the debugger, and waits until the configuration is done.
# The environment contains the address, a secret that identifies this program, and the folder of the debug gem. Ruby
# children inherit it, and connect too.

require 'socket'

module Stillframe
  class Refused < StandardError
  end
end

%w[wire evaluation values stops breakpoints fibers throws pure requests tests assertions activity as_json].each { |name| require_relative name }

module Stillframe
  module Agent
    FOLDER = "#{__dir__}/"
    CONDITION = 1.0
    LIBRARIES = (
      [RbConfig::CONFIG['rubylibprefix'], RbConfig::CONFIG['rubylibdir'], RbConfig::CONFIG['sitedir']] +
      Gem.path.map { |path| "#{path}/" } + ['/usr/lib/ruby/', '/usr/share/rubygems-integration/', '/usr/share/ruby']
    ).compact.freeze
    VARIABLES = %w[STILLFRAME_RUBY STILLFRAME_RUBY_TOKEN STILLFRAME_RUBY_GEM].freeze

    @threads = []
    @internal = {}
    @active = false
    @just_my_code = true

    class << self
      attr_reader :token
      attr_accessor :just_my_code, :launched

      def active? = @active

      # A thread of this agent, or of rdbg, by which the program was attached to.
      def own_thread?(thread) = @threads.include?(thread) || thread.name.to_s.start_with?('DEBUGGER__::')

      def own?(path) = path.start_with?(FOLDER)

      # Code of Ruby itself, of a gem, or without a file.
      def internal?(path)
        @internal.fetch(path) do
          @internal[path] = !path.start_with?('/') || own?(path) || path.include?('/gems/') ||
                            LIBRARIES.any? { |folder| path.start_with?(folder) } || script_of_gem?(path)
        end
      end

      def user?(path) = !internal?(path)

      def shown?(path) = @just_my_code ? user?(path) : !own?(path) && path.start_with?('/')

      def own_thread(name, &block)
        thread = Thread.new do
          Thread.current.report_on_exception = false
          Thread.current.name = "stillframe #{name}"
          block.call
        ensure
          @threads.delete(Thread.current)
        end
        @threads << thread
        thread
      end

      def event(name, **body)
        @outbox << { type: 'event', event: name, body: body }
      end

      def respond(request, success: true, message: nil, body: nil)
        answer = { type: 'response', request_seq: request['seq'], command: request['command'], success: success }
        answer[:message] = message if message
        answer[:body] = body if body
        @outbox << answer
      end

      # Connects, and waits until the program may run, unless it already runs.
      def start(address, token, waits: true)
        load_gem
        host, port = address.split(/:(?=\d+\z)/)
        @socket = TCPSocket.new(host, Integer(port))
        @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
        @socket.close_on_exec = true
        @token = token
        @ready = Queue.new
        @outbox = Queue.new
        @active = true
        @launched = waits
        Stops.client
        # The thread in which it is loaded into a program that runs is not the program's.
        Fibers.watch if waits
        watch_code(waits)
        @writer = own_thread('writer') { write }
        own_thread('reader') { read }
        trap_signal
        return unless waits
        @ready.pop
        Steps.entry if Stops.stop_on_entry
      rescue SystemCallError, SocketError
        # The debugger has disconnected: the program runs without it.
        @active = false
      end

      def ready
        @ready << true
      end

      # The program is ending: report files that were never loaded.
      def ending
        return unless @active
        Breakpoints.report_unloaded
        Tests.ending($!) if Tests.wanted?
        @outbox << nil
        @writer.join(0.5)
      end

      # Detaches from the program.
      def leave
        @active = false
        @compiled&.disable
        @defined&.disable
        Breakpoints.clear
        Throws.mode = nil
        Fibers.leave
        Steps.clear
        forget_children
        Stops.resume
        ready
      end

      # A forked child does not have its parent's agent threads.
      def forked
        return unless @active
        leave_parent
        start(ENV.fetch('STILLFRAME_RUBY'), ENV.fetch('STILLFRAME_RUBY_TOKEN'))
      rescue KeyError
        nil
      end

      def forget_children
        VARIABLES.each { |name| ENV.delete(name) }
        option = "-r#{FOLDER}stillframe"
        ENV['RUBYOPT'] = ENV['RUBYOPT'].split.reject { |one| one.start_with?(option) }.join(' ') if ENV['RUBYOPT']
      end

      private

      # Executables that RubyGems generates are not user code.
      def script_of_gem?(path)
        path.start_with?('/usr/bin/', '/usr/local/bin/') || path.include?('/bin/') && File.read(path, 2000).to_s.include?('generated by RubyGems')
      rescue SystemCallError
        false
      end

      # Bundler removes the folder of the native part from the load path, unless the gem is in the bundle.
      def load_gem
        return if defined?(DEBUGGER__) && DEBUGGER__.respond_to?(:capture_frames)
        folder = ENV.fetch('STILLFRAME_RUBY_GEM')
        home, gem = folder.match(%r{\A(.*)/gems/([^/]+)/})&.captures
        $LOAD_PATH.unshift("#{home}/extensions/#{Gem::Platform.local}/#{Gem.extension_api_version}/#{gem}")
        require "#{folder}/frame_info.rb"
        $LOAD_PATH.shift
      end

      def watch_code(is_new)
        Code.add_all unless is_new
        @compiled = TracePoint.new(:script_compiled) do |point|
          code = point.instruction_sequence
          Statements.loaded(code.path)
          Breakpoints.loaded(code) unless own?(code.path)
        end
        @compiled.enable
        @defined = TracePoint.new(:end) do |point|
          Breakpoints.defined(point.self) if Breakpoints.functions?
          Tests.defined(point.self) if Tests.wanted?
        end
        @defined.enable
        at_exit { Agent.ending } unless @ends
        @ends = true
      end

      def trap_signal
        before = trap(:URG) do
          Stops.on_signal
          before.call if before.respond_to?(:call)
        end
      rescue ArgumentError
        nil
      end

      def leave_parent
        @compiled&.disable
        @defined&.disable
        Breakpoints.clear
        Throws.mode = nil
        Steps.clear
        Stops.forget_threads
        Evaluation.forget_threads
        @threads = []
        @socket.close
      end

      def write
        sequence = 0
        while (message = @outbox.pop)
          message[:seq] = sequence += 1
          Wire.write(@socket, message)
        end
      rescue SystemCallError, IOError
        nil
      end

      def read
        while (request = Wire.read(@socket))
          Requests.serve(request)
        end
        lost
      rescue SystemCallError, IOError
        lost
      end

      # A launched program ends with its debugger.
      def lost
        return unless @active
        @launched ? Process.exit!(1) : leave
      end
    end
  end

  # The statements at which the debug gem stops. Its prelude does not define them where the native part is loaded, and its
  # console would end a program that has no terminal.
  module Statements
    GEM = ['/debug/prelude.rb', '/debug/session.rb'].freeze

    def self.loaded(path)
      return unless path.end_with?(*GEM)
      Kernel.prepend(self)
      Binding.prepend(OfBinding)
    end

    def debugger(*, **)
      Stops.suspend('debugger statement')
      self
    end

    # They have these names there.
    module OfBinding
      def break(*, **) = debugger
      def b(*, **) = debugger
    end
  end

  # Handles forked children, whichever method forks.
  module Forks
    if Process.respond_to?(:_fork)
      def _fork
        pid = super
        Agent.forked if pid.zero?
        pid
      end
      Process.singleton_class.prepend(self)
    end
  end

  $stdout.sync = true
  Agent.start(ENV['STILLFRAME_RUBY'], ENV['STILLFRAME_RUBY_TOKEN']) if ENV['STILLFRAME_RUBY']
end
