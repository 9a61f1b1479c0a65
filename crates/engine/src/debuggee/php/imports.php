<?php
// The namespace of a line and what is imported there: an expression means the names that the code around it means.

namespace Stillframe;

final class Imports
{
    private static $files = [];

    /** The namespace of a line, and the statements of its file that give names their meaning; without a file, none. */
    public static function at($file, $line)
    {
        if ($file === '') {
            return ['', ''];
        }
        if (!isset(self::$files[$file])) {
            $text = \function_exists('token_get_all') ? @\file_get_contents($file) : false;
            self::$files[$file] = $text === false ? [] : self::read($text);
        }
        $found = ['', ''];
        foreach (self::$files[$file] as [$from, $namespace, $code]) {
            if ($from <= $line) {
                $found = [$namespace, $code];
            }
        }
        return $found;
    }

    /** The tokens of a source but spaces and comments, each with its kind, its text and its line. */
    public static function tokens($text)
    {
        $tokens = [];
        $line = 1;
        foreach (\token_get_all($text) as $token) {
            [$kind, $word, $line] = \is_array($token) ? $token : [$token, $token, $line];
            if (!\in_array($kind, [\T_WHITESPACE, \T_COMMENT, \T_DOC_COMMENT], true)) {
                $tokens[] = [$kind, $word, $line];
            }
            $line += \substr_count($word, "\n");
        }
        return $tokens;
    }

    /** The namespaces of a source, each with its first line. */
    private static function read($text)
    {
        $tokens = self::tokens($text);
        $found = [[0, '', '']];
        [$depth, $outside] = [0, 0];
        for ($at = 0; $at < \count($tokens); $at++) {
            [$kind, , $line] = $tokens[$at];
            $next = $tokens[$at + 1][0] ?? null;
            if (\in_array($kind, ['{', \T_CURLY_OPEN, \T_DOLLAR_OPEN_CURLY_BRACES], true)) {
                $depth++;
            } elseif ($kind === '}') {
                $depth--;
            } elseif ($kind === \T_NAMESPACE && $next !== \T_NS_SEPARATOR) {
                [$name, $at] = self::statement($tokens, $at + 1, ['{', ';']);
                $outside = $tokens[$at][0] === '{' ? 1 : 0;
                $depth = $outside;
                $name = \trim($name);
                $found[] = [$line, $name, $name === '' ? '' : "namespace $name; "];
            } elseif ($kind === \T_USE && $depth === $outside && $next !== '(') {
                [$names, $at] = self::statement($tokens, $at + 1, [';', \T_CLOSE_TAG]);
                $found[\count($found) - 1][2] .= "use $names; ";
            }
        }
        return $found;
    }

    /** The text up to one of the tokens that end it, and where that is. */
    private static function statement($tokens, $at, $ends)
    {
        $text = '';
        while ($at < \count($tokens) - 1 && !\in_array($tokens[$at][0], $ends, true)) {
            $text .= $tokens[$at++][1] . ' ';
        }
        return [$text, $at];
    }
}
