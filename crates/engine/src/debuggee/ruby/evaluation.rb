# frozen_string_literal: true

module Stillframe
  # Raised in an evaluation that takes too long.
  class Interrupted < Exception
    def message = 'the expression took too long'
  end

  # Runs user code with a time limit.
  # One thread watches all evaluations: a thread for each would cost more than most conditions.
  module Evaluation
    TICK = 0.02
    IDLE = 1.0

    @watched = {}
    @thread = nil

    class << self
      # Returns the block's value, or raises Interrupted in it after `seconds`.
      def within(seconds)
        target = Thread.current
        before = @watched[target]
        Thread.handle_interrupt(Interrupted => :never) do
          watch(target, seconds)
          begin
            Thread.handle_interrupt(Interrupted => :immediate) { yield }
          ensure
            before ? @watched[target] = before : @watched.delete(target)
            swallow_late_interrupt
          end
        end
      end

      # The value of an expression in a frame. What leaves it in another way, such as `return` and `throw`, would leave
      # the frame, too.
      def evaluate(binding, expression, seconds)
        has_ended = false
        value = within(seconds) { binding.eval(expression, '(expression)', 1) }
        has_ended = true
        value
      rescue Exception
        has_ended = true
        raise
      ensure
        raise Refused, 'an expression cannot leave its function by `return`, `break` or `throw`' unless has_ended
      end

      def forget_threads
        @watched = {}
        @thread = nil
      end

      private

      def watch(target, seconds)
        @watched[target] = now + seconds
        @thread = Agent.own_thread('evaluations') { tick } unless @thread&.alive?
        @thread.wakeup if @thread.status == 'sleep' && @idle
      rescue ThreadError
        nil
      end

      def tick
        used = now
        loop do
          if @watched.empty? && now - used > IDLE
            @idle = true
            sleep
            @idle = false
          end
          used = now unless @watched.empty?
          sleep TICK
          time = now
          @watched.dup.each { |thread, limit| thread.raise(Interrupted) if time > limit && @watched.key?(thread) }
        end
      end

      def swallow_late_interrupt
        return unless Thread.pending_interrupt?
        Thread.handle_interrupt(Interrupted => :immediate) { Thread.pass }
      rescue Interrupted
        nil
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
