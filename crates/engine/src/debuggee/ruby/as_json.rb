# frozen_string_literal: true

module Stillframe
  # An object whose `inspect` is a given text.
  class Text
    def initialize(value)
      @value = value
    end

    def inspect = @value.to_s
  end

  # A value for the server: its type, its JSON, and the value itself. If JSON would be too long or inexact, a number
  # replaces it.
  module AsJson
    class << self
      def of(value, longest)
        text = Wire.generate(plain(value, 0))
        text = text.gsub(/[^\x20-\x7e]/) { |letter| letter.encode(Encoding::UTF_16BE).unpack('n*').map { |unit| format('\\u%04x', unit) }.join }
        text = text.gsub('\\', '~')
        [Values.type(value), text.length > longest ? text.length : text, value]
      rescue ArgumentError, EncodingError
        [Values.type(value), 0, value]
      end

      private

      def plain(value, depth)
        raise ArgumentError if depth > 50
        case value
        when nil, true, false, Integer then value
        when Float then value.finite? ? value : raise(ArgumentError)
        when String then value.valid_encoding? && !value.include?('~') ? value : raise(ArgumentError)
        when Symbol then value.to_s
        when Array then value.map { |item| plain(item, depth + 1) }
        when Hash then value.to_h { |key, item| [String === key || Symbol === key ? key.to_s : raise(ArgumentError), plain(item, depth + 1)] }
        else raise ArgumentError
        end
      end
    end
  end
end
