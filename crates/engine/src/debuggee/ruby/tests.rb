# frozen_string_literal: true

module Stillframe
  # Reports test results.
  # Reports are lines of JSON in the file that STILLFRAME_TESTS names. Runners are detected when their classes are
  # defined, so `rake` and `bundle exec` work too.
  module Tests
    TEXT = 4000
    # The marks of errors, by which a failure names its throw. The program's objects stay as they are.
    @marked = ObjectSpace::WeakMap.new
    @marks = 0
    @hooked = {}

    class << self
      def wanted? = ENV.key?('STILLFRAME_TESTS')

      # Called when a class or module is defined.
      def defined(kind)
        return if @hooked.size == 3
        name = Values.plain_name(kind)
        hook(:minitest) { hook_minitest } if name == 'Minitest' && kind.respond_to?(:extensions) && kind.extensions
        hook(:test_unit) { kind.prepend(TestUnitReporter) } if name == 'Test::Unit::TestCase' && kind.method_defined?(:run)
        hook(:rspec) { kind.prepend(RSpecReporter) } if name == 'RSpec::Core::Reporter' && kind.method_defined?(:start)
      end

      def emit(kind, **body)
        @reported = true
        line = Wire.generate({ kind: kind, **body.compact })
        File.open(ENV.fetch('STILLFRAME_TESTS'), 'a') { |file| file.write("#{line}\n") }
      rescue SystemCallError, KeyError
        nil
      end

      # The part of a report that is about an exception.
      def error(error)
        return {} unless error
        lines = [Values.message(error), *Array(error.backtrace).first(30)]
        { exception: Values.type(error), message: Values.message(error)[0, TEXT], details: lines.join("\n")[0, TEXT],
          mark: mark(error, make: false) }
      end

      # Called if a program failed to load its tests.
      def ending(error)
        return if @reported || error.nil? || SystemExit === error || SignalException === error
        emit('problem', name: $PROGRAM_NAME, **self.error(error), **place(error))
      end

      # The user's innermost line of a backtrace. One that a runner has set has no locations.
      def place(error)
        lines = Array(error&.backtrace).filter_map { |text| text.match(/\A(.+?):(\d+)(?::in |\z)/)&.captures }
        file, line = lines.find { |file, _| Agent.user?(File.expand_path(file)) }
        file ? { file: File.expand_path(file), line: line.to_i } : {}
      end

      # Details of the exception at which a thread is stopped.
      def thrown(client, limit)
        error = client.exception
        { mark: mark(error), assertion: Assertions.failed(limit) }.compact
      end

      private

      def hook(name)
        return if @hooked[name]
        @hooked[name] = true
        yield
      rescue StandardError
        nil
      end

      def hook_minitest
        ::Minitest.extensions << 'stillframe'
        ::Minitest.singleton_class.define_method(:plugin_stillframe_init) do |_options|
          reporter << MinitestReporter.new
        end
      end

      def mark(error, make: true)
        number = @marked[error]
        number = @marked[error] = @marks += 1 if number.nil? && make
        number && "#{Process.pid}-#{number}"
      end
    end

    # A listener for RSpec's reporter.
    module RSpecReporter
      def start(*)
        listener = Listener.new
        register_listener(listener, :example_started, :example_passed, :example_failed, :example_pending)
        Tests.emit('collected', count: Array(::RSpec.world.example_count).first)
        super
      end

      # Errors outside of examples, such as a file that cannot be loaded.
      def notify_non_example_exception(error, context)
        Tests.emit('problem', name: context.to_s.strip, **Tests.error(error), **Tests.place(error))
        super
      end

      class Listener
        def example_started(notification) = Tests.emit('begins', test: name(notification.example))

        def example_passed(notification) = result(notification.example, 'passed')

        def example_pending(notification)
          example = notification.example
          outcome = example.execution_result.example_skipped? ? 'skipped' : 'xfailed'
          result(example, outcome, message: example.execution_result.pending_message.to_s)
        end

        def example_failed(notification)
          example = notification.example
          error = example.execution_result.exception
          all = error.respond_to?(:all_exceptions) ? error.all_exceptions : [error]
          first = all.first
          messages = all.map { |one| Values.message(one).strip }.join("\n\n")
          more = all.size > 1 ? { message: "#{all.size} failures:\n#{messages}"[0, TEXT] } : {}
          # Failures that are collected are not thrown.
          result(example, 'failed', **Tests.error(first), **more, **Tests.place(first))
        end

        private

        # The ID is unique. An example without a text has a description once it has run.
        def name(example) = (@names ||= {})[example.id] ||= "#{example.id} #{example.full_description}".strip

        def result(example, outcome, **more)
          place = example.metadata
          about = { file: place[:absolute_file_path], line: place[:line_number] }
          Tests.emit('result', id: name(example), outcome: outcome, **about, **more)
        end
      end
    end

    # What a test case of test-unit does in addition.
    module TestUnitReporter
      SKIPS = %w[Test::Unit::OmittedError Test::Unit::PendedError].freeze
      @errors = {}.compare_by_identity

      class << self
        attr_reader :errors
      end

      def run(result, **options)
        known = result.faults.size
        id = "#{Values.type(self)}##{local_name}"
        Tests.emit('collected', count: 1)
        Tests.emit('begins', test: id)
        errors = TestUnitReporter.errors[self] = []
        super
      ensure
        TestUnitReporter.errors.delete(self)
        outcome(id, errors, passed? ? nil : result.faults.drop(known).last) if errors
      end

      private

      def handle_exception(error)
        TestUnitReporter.errors[self]&.push(error) unless Values.type(error) == 'Test::Unit::NotifiedError'
        super
      end

      def outcome(id, errors, fault)
        file, line = method(method_name).source_location
        about = { id: id, file: file && File.expand_path(file), line: line }
        skips, failures = errors.partition { |error| SKIPS.include?(Values.type(error)) }
        failures.each { |error| Tests.emit('result', **about, outcome: 'failed', **Tests.error(error), **Tests.place(error)) }
        return unless failures.empty?
        return Tests.emit('result', **about, outcome: 'failed', message: fault.message) if fault && skips.empty?
        Tests.emit('result', **about, outcome: skips.empty? ? 'passed' : 'skipped', message: skips.first&.message)
      end
    end

    # A reporter of minitest.
    class MinitestReporter
      def start = nil

      def prerecord(kind, name)
        Tests.emit('collected', count: 1)
        Tests.emit('begins', test: "#{kind}##{name}")
      end

      def record(result)
        file, line = result.respond_to?(:source_location) ? result.source_location : nil
        about = { id: "#{result.respond_to?(:klass) ? result.klass : result.class}##{result.name}", file: file && File.expand_path(file), line: line }
        return Tests.emit('result', **about, outcome: 'passed') if result.failures.empty?
        if result.skipped?
          return Tests.emit('result', **about, outcome: 'skipped', message: result.failures.first.message)
        end
        result.failures.each do |failure|
          error = failure.respond_to?(:error) ? failure.error : failure
          Tests.emit('result', **about, outcome: 'failed', **Tests.error(error), **Tests.place(error))
        end
      end

      def report = nil

      def passed? = true
    end
  end
end
