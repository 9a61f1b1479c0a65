# frozen_string_literal: true

# Loads the server into a program that was started with `rdbg --open`, by one evaluation, and makes rdbg continue.
# Arguments: `HOST:PORT` of rdbg, or its process ID; our address; the secret.

require 'io/wait'
require 'socket'
require_relative 'wire'

at, address, token = ARGV
# Without a message for this many seconds, the program runs.
QUIET = 0.3
server = File.join(__dir__, 'stillframe.rb')

def connect(at)
  return TCPSocket.new(*at.split(/:(?=\d+\z)/)) unless at.match?(/\A\d+\z/)
  folders = [ENV['RUBY_DEBUG_SOCK_DIR'], ENV['XDG_RUNTIME_DIR'], *Dir.glob('/tmp/ruby-debug-sock-*'), File.join(Dir.home, '.ruby-debug-sock')]
  path = folders.compact.flat_map { |folder| Dir.glob(File.join(folder, "ruby-debug-*#{at}*")) }.first
  path or abort "process #{at} has no rdbg that listens at a local socket; start the program with `rdbg --open program.rb`, or attach by the port if it was started with `--port`"
  UNIXSocket.new(path)
end

socket = begin
  connect(at)
rescue SystemCallError => error
  abort "no rdbg answers at #{at}: #{error.message}; start the program with `rdbg --open --port PORT program.rb`"
end

# Messages of rdbg, until one fits.
sequence = 0
receive = lambda do |&fits|
  loop do
    message = Stillframe::Wire.read(socket) or abort "rdbg at #{at} has hung up"
    break message if fits.call(message)
  end
end
send = lambda do |command, arguments = {}|
  Stillframe::Wire.write(socket, { type: 'request', seq: sequence += 1, command: command, arguments: arguments })
  sequence
end
request = lambda do |command, arguments = {}|
  number = send.call(command, arguments)
  answer = receive.call { |message| message['type'] == 'response' && message['request_seq'] == number }
  raise "rdbg at #{at} refused `#{command}`: #{answer['message']}" unless answer['success']
  answer['body'] || {}
end
# rdbg stops the program once for the connection and once for `attach`, and ends it if it loses its client at a stop.
leave = lambda do
  send.call('continue')
  while socket.wait_readable(QUIET)
    message = Stillframe::Wire.read(socket) or break
    send.call('continue') if message['event'] == 'stopped'
  end
end

begin
  request.call('initialize', { adapterID: 'stillframe', clientID: 'stillframe', linesStartAt1: true })
  request.call('attach', { localfs: true })
  send.call('configurationDone')
  thread = receive.call { |message| message['event'] == 'stopped' }.dig('body', 'threadId')
  frames = request.call('stackTrace', { threadId: thread })['stackFrames'] || []
  # The stop may be in a signal handler, where nothing can be loaded: another thread does that once rdbg has handed
  # back the signal by which it stops programs.
  expression = "::Thread.new { sleep 0.01 while ::DEBUGGER__::SESSION.instance_variable_get(:@ui)&.instance_variable_get(:@sock); " \
               "load(#{server.dump}); ::Stillframe::Agent.start(#{address.dump}, #{token.dump}, waits: false) }; :loaded"
  # rdbg cannot evaluate in the frame of a C function such as `sleep`.
  result = nil
  frames.each do |frame|
    result = request.call('evaluate', { expression: expression, frameId: frame['id'], context: 'repl' })['result']
    break unless result.to_s.include?('Can not evaluate on this frame')
  end
  problem = "the server could not be loaded: #{result}" unless result == ':loaded'
rescue RuntimeError => error
  problem = error.message
end
leave.call
socket.close
abort problem if problem
