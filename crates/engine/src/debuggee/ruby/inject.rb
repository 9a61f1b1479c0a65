# frozen_string_literal: true

# Loads the server into a program that was started with `rdbg --open`, by one evaluation, and makes rdbg continue.
# Arguments: `HOST:PORT` of rdbg, or its process ID; our address; the secret.

require 'socket'
require_relative 'wire'

at, address, token = ARGV
server = File.join(__dir__, 'stillframe.rb')

def connect(at)
  return TCPSocket.new(*at.split(/:(?=\d+\z)/)) unless at.match?(/\A\d+\z/)
  folders = [ENV['RUBY_DEBUG_SOCK_DIR'], ENV['XDG_RUNTIME_DIR'], *Dir.glob('/tmp/ruby-debug-sock-*'), File.join(Dir.home, '.ruby-debug-sock')]
  path = folders.compact.flat_map { |folder| Dir.glob(File.join(folder, "ruby-debug-*#{at}*")) }.first
  path or abort "process #{at} has no rdbg that listens; start the program with `rdbg --open program.rb`"
  UNIXSocket.new(path)
end

socket = begin
  connect(at)
rescue SystemCallError => error
  abort "no rdbg answers at #{at}: #{error.message}; start the program with `rdbg --open --port PORT program.rb`"
end

sequence = 0
request = lambda do |command, arguments = {}|
  Stillframe::Wire.write(socket, { type: 'request', seq: sequence += 1, command: command, arguments: arguments })
  number = sequence
  loop do
    message = Stillframe::Wire.read(socket) or abort "rdbg at #{at} has hung up"
    next unless message['type'] == 'response' && message['request_seq'] == number
    abort "rdbg at #{at} refused `#{command}`: #{message['message']}" unless message['success']
    break message['body'] || {}
  end
end
wait_for_stop = lambda do
  loop do
    message = Stillframe::Wire.read(socket) or abort "rdbg at #{at} has hung up"
    break message['body']['threadId'] if message['event'] == 'stopped'
  end
end

request.call('initialize', { adapterID: 'stillframe', clientID: 'stillframe', linesStartAt1: true })
request.call('attach', { localfs: true })
Stillframe::Wire.write(socket, { type: 'request', seq: sequence += 1, command: 'configurationDone', arguments: {} })
thread = wait_for_stop.call
frames = request.call('stackTrace', { threadId: thread })['stackFrames'] || []
expression = "load(#{server.dump}); ::Stillframe::Agent.start(#{address.dump}, #{token.dump}, waits: false); :loaded"
# rdbg cannot evaluate in the frame of a C function such as `sleep`.
result = nil
frames.each do |frame|
  result = request.call('evaluate', { expression: expression, frameId: frame['id'], context: 'repl' })['result']
  break unless result.to_s.include?('Can not evaluate on this frame')
end
if result.to_s.include?('trap context')
  abort 'rdbg has stopped the program in a signal handler, where nothing can be loaded; start it with `rdbg --open ' \
        "--port PORT program.rb`, which waits for the debugger, and attach before it runs"
end
abort "the server could not be loaded: #{result}" unless result == ':loaded'
request.call('disconnect', { terminateDebuggee: false })
sleep 0.5
