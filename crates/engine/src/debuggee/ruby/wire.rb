# frozen_string_literal: true

# Reads and writes messages of the Debug Adapter Protocol.
# Includes a JSON implementation: loading the library would fix its version before Bundler can choose one, and
# frameworks change how it writes values.
module Stillframe
  module Wire
    ESCAPES = { '"' => '\\"', '\\' => '\\\\', "\n" => '\\n', "\r" => '\\r', "\t" => '\\t' }.freeze
    UNESCAPES = { 'n' => "\n", 'r' => "\r", 't' => "\t", 'b' => "\b", 'f' => "\f" }.freeze
    TOKEN = /\G\s*(?:([\[\]{}:,])|"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null))/m

    module_function

    def read(io)
      length = nil
      while (line = io.gets("\r\n"))
        line = line.chomp
        break if line.empty? && length
        length = Regexp.last_match(1).to_i if line =~ /\AContent-Length: *(\d+)/i
      end
      body = length && io.read(length)
      body && body.bytesize == length ? parse(body.force_encoding(Encoding::UTF_8)) : nil
    end

    def write(io, message)
      text = generate(message)
      io.write("Content-Length: #{text.bytesize}\r\n\r\n#{text}")
    end

    def generate(value)
      case value
      when nil then 'null'
      when true then 'true'
      when false then 'false'
      when Integer then value.to_s
      when Float then value.finite? ? value.to_s : 'null'
      when Array then "[#{value.map { |item| generate(item) }.join(',')}]"
      when Hash then "{#{value.map { |key, item| "#{quote(key.to_s)}:#{generate(item)}" }.join(',')}}"
      else quote(value.to_s)
      end
    end

    def quote(text)
      plain = unicode(text).gsub(/["\\\u0000-\u001f\u007f]/) do |letter|
        ESCAPES[letter] || format('\\u%04x', letter.ord)
      end
      "\"#{plain}\""
    end

    # Invalid bytes are escaped.
    def unicode(text)
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless text.encoding == Encoding::UTF_8
      text.valid_encoding? ? text : text.scrub { |bytes| bytes.unpack('C*').map { |byte| format('\\x%02X', byte) }.join }
    end

    def parse(text)
      @text = text
      value, = value_at(text, 0)
      value
    end

    def value_at(text, at)
      match = TOKEN.match(text, at) or raise ArgumentError, "no JSON at #{at}"
      at = match.end(0)
      return [unescape(match[2]), at] if match[2]
      return [match[3] =~ /[.eE]/ ? match[3].to_f : match[3].to_i, at] if match[3]
      return [{ 'true' => true, 'false' => false, 'null' => nil }[match[4]], at] if match[4]
      match[1] == '[' ? items_at(text, at) : members_at(text, at)
    end

    def items_at(text, at)
      found = []
      loop do
        return [found, Regexp.last_match.end(0)] if text.match(/\G\s*\]/, at)
        item, at = value_at(text, at)
        found << item
        at = Regexp.last_match.end(0) if text.match(/\G\s*,/, at)
      end
    end

    def members_at(text, at)
      found = {}
      loop do
        return [found, Regexp.last_match.end(0)] if text.match(/\G\s*\}/, at)
        key, at = value_at(text, at)
        at = text.match(/\G\s*:/, at).end(0)
        found[key], at = value_at(text, at)
        at = Regexp.last_match.end(0) if text.match(/\G\s*,/, at)
      end
    end

    def unescape(text)
      return text unless text.include?('\\')
      text.gsub(/\\u[dD][89abAB]\h\h\\u[dD][c-fC-F]\h\h|\\u\h{4}|\\./m) do |escape|
        if escape.length == 12
          high, low = escape[2, 4].hex, escape[8, 4].hex
          [0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)].pack('U')
        elsif escape.length == 6
          [escape[2, 4].hex].pack('U')
        else
          UNESCAPES[escape[1]] || escape[1]
        end
      end
    end
  end
end
