# frozen_string_literal: true

module Stillframe
  # Samples the threads of the running program, and finds what each waits for. Samples are merged as they are taken.
  # Ruby does not record the holder of a Mutex: a thread inside `synchronize`, or after `lock` further down its stack,
  # counts as the holder.
  module Activity
    Call = Struct.new(:function, :file, :total, :lines, :calls) do
      def plain
        { function: function, file: file, total: total, lines: lines.sort,
          calls: calls.values.sort_by { |call| -call.total }.map(&:plain) }
      end
    end
    # Blocking native functions: the kind of wait, and its description.
    WAITS = {
      'sleep' => ['timer', 'a time'], 'lock' => ['lock', 'a Mutex'], 'synchronize' => ['lock', 'a Mutex or Monitor'],
      'mon_enter' => ['lock', 'a Monitor'], 'enter' => ['lock', 'a Monitor'], 'pop' => ['lock', 'an item of a Queue'],
      'shift' => ['lock', 'an item of a Queue'], 'deq' => ['lock', 'an item of a Queue'], 'push' => ['lock', 'room in a SizedQueue'],
      'join' => ['thread', 'another thread'], 'value' => ['thread', 'another thread'], 'accept' => ['server', 'connections'],
      'wait' => ['child', 'a child process'], 'waitpid' => ['child', 'a child process'], 'wait2' => ['child', 'a child process'],
      'gets' => ['file', 'input'], 'read' => ['file', 'input'], 'readline' => ['file', 'input'], 'getc' => ['file', 'input'],
      'readpartial' => ['socket', 'data'], 'sysread' => ['socket', 'data'], 'recv' => ['socket', 'data'],
      'wait_readable' => ['socket', 'data'], 'select' => ['socket', 'data'], 'system' => ['child', 'a child process'],
      '`' => ['child', 'a child process'], 'stop' => ['lock', 'another thread to wake it up']
    }.freeze
    # What `wait` waits for if it sleeps.
    SIGNAL = ['lock', 'a ConditionVariable'].freeze
    TIMED = %w[timer lock thread].freeze
    HOLDS = %w[synchronize lock mon_enter enter].freeze
    DEEPEST = 200

    @calls = {}
    @samples = {}

    class << self
      def start(interval)
        stop
        forget
        @thread = Agent.own_thread('samples') do
          loop do
            sleep interval
            sample
          end
        end
      end

      def stop
        @thread&.kill
        @thread = nil
      end

      # The samples since the last call.
      def take
        stacks = Stops.threads.to_h { |client| [client, places(client.thread)] }
        threads = stacks.map do |client, stack|
          calls = @calls.fetch(client.id, {}).values.map(&:plain)
          { id: client.id, name: client.name, os: native_id(client.thread), samples: @samples.fetch(client.id, 0), calls: calls,
            stack: stack.map { |place| [name(place), place.absolute_path, place.lineno] },
            blocked: blocked(client, stacks) }.compact
        end
        forget
        { threads: threads }
      end

      private

      def forget
        @calls = {}
        @samples = {}
      end

      def sample
        Stops.threads.each do |client|
          stack = places(client.thread).first(DEEPEST)
          next if stack.empty?
          @samples[client.id] = @samples.fetch(client.id, 0) + 1
          calls = @calls[client.id] ||= {}
          stack.reverse_each do |place|
            key = [name(place), place.absolute_path]
            call = calls[key] ||= Call.new(key[0], key[1], 0, Hash.new(0), {})
            call.total += 1
            call.lines[place.lineno] += 1
            calls = call.calls
          end
        end
      end

      def all_places(thread) = (thread.backtrace_locations || []).reject { |place| Agent.own?(place.path) }

      def places(thread)
        all = all_places(thread)
        all.zip(all.drop(1)).reject { |place, caller| place.absolute_path.nil? || native?(place, caller) }.map(&:first)
      end

      # Native functions have the line of their caller.
      def native?(place, caller)
        WAITS.key?(method_of(place)) && caller && [place.path, place.lineno] == [caller.path, caller.lineno]
      end

      def name(place) = place.label

      def method_of(place) = place.base_label[/[^.#]+\z/]

      def native_id(thread) = thread.respond_to?(:native_thread_id) ? thread.native_thread_id : nil

      def blocked(client, stacks)
        thread = client.thread
        return unless thread.stop?
        around = all_places(thread)
        signal = condition(around)
        top = signal || around.first or return
        is_endless = Values.call(Thread, :inspect, thread).end_with?('sleep_forever>')
        kind, what = signal ? SIGNAL : WAITS[method_of(top)]
        kind, what = WAITS['stop'] if kind == 'timer' && is_endless
        return if kind.nil? && thread.status == 'run'
        kind ||= 'other'
        user = around.find { |place| place.absolute_path && Agent.user?(place.absolute_path) }
        holders = kind == 'lock' ? holders(client, stacks, method_of(top)) : joined(kind, client, stacks)
        { kind: kind, what: what || "`#{method_of(top)}`", file: user&.absolute_path, line: user&.lineno,
          timed: TIMED.include?(kind) && thread.status == 'sleep' && !is_endless, holders: holders }.compact
      end

      # The native `wait` of a ConditionVariable, which sleeps.
      def condition(around)
        top, wait, caller = around.first(3)
        wait if caller && method_of(top) == 'sleep' && method_of(wait) == 'wait' && native?(wait, caller)
      end

      def holders(client, stacks, function)
        return [] unless HOLDS.include?(function)
        stacks.keys.select do |other|
          outer = all_places(other.thread).drop(1)
          other != client && outer.zip(outer.drop(1)).any? do |place, caller|
            HOLDS.include?(method_of(place)) && native?(place, caller)
          end
        end.map(&:id)
      end

      def joined(kind, client, stacks)
        return [] unless kind == 'thread'
        others = stacks.keys - [client]
        others.size == 1 ? others.map(&:id) : []
      end
    end
  end
end
