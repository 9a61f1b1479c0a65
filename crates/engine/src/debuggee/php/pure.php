<?php
// Reads variables, and what is in them, without running code of the program.

namespace Stillframe;

final class Pure
{
    private const LITERALS = [\T_LNUMBER, \T_DNUMBER, \T_CONSTANT_ENCAPSED_STRING];
    private const OPERATORS = ['+', '-', '*', '/', '%', '.', '<', '>', '!', '?', ':', '(', ')', '[', ']', ','];
    private const SIGNS = [\T_IS_EQUAL, \T_IS_NOT_EQUAL, \T_IS_IDENTICAL, \T_IS_NOT_IDENTICAL, \T_IS_SMALLER_OR_EQUAL, \T_IS_GREATER_OR_EQUAL, \T_BOOLEAN_AND, \T_BOOLEAN_OR, \T_COALESCE, \T_DOUBLE_ARROW];

    public static function of($encoded, $variables, $self, $limit, $depth)
    {
        $code = \base64_decode($encoded);
        $tokens = [];
        foreach (\array_slice(\token_get_all('<?php ' . $code), 1) as $token) {
            if (!\is_array($token) || !\in_array($token[0], [\T_WHITESPACE, \T_COMMENT, \T_DOC_COMMENT], true)) {
                $tokens[] = \is_array($token) ? $token : [$token, $token];
            }
        }
        $variables['this'] = $self;
        $found = self::isArray($tokens, $variables) ?? self::path($tokens, $variables);
        if ($found === null) {
            self::check($tokens, $variables);
            $code = Evaluation::code($encoded, $variables, '', 0);
            $found = [self::computed($code, $variables)];
        }
        return Values::done($found[0], $limit, $depth);
    }

    /** `is_array($orders)`, which runs nothing whatever is in the array. */
    private static function isArray($tokens, $variables)
    {
        if (($tokens[0][1] ?? '') !== 'is_array' || ($tokens[1][0] ?? null) !== '(' || \end($tokens)[0] !== ')') {
            return null;
        }
        $found = self::path(\array_slice($tokens, 2, -1), $variables);
        return $found === null ? null : [\is_array($found[0])];
    }

    private static function computed($__code, $__variables)
    {
        unset($__variables['this']);
        \extract($__variables, \EXTR_SKIP);
        return eval($__code);
    }

    /** Only operators on plain values run nothing. */
    private static function check($tokens, $variables)
    {
        foreach ($tokens as $at => [$kind, $word]) {
            $before = $tokens[$at - 1][0] ?? null;
            $isCall = $kind === '(' && ($before === \T_STRING || $before === \T_VARIABLE || $before === ')' || $before === ']');
            $isKnown = \in_array($kind, self::LITERALS, true) || \in_array($kind, self::OPERATORS, true) || \in_array($kind, self::SIGNS, true)
                || $kind === \T_STRING || $kind === \T_VARIABLE && self::isPlain($variables[\substr($word, 1)] ?? null, 0);
            if ($isCall || !$isKnown || $kind === \T_STRING && !self::isPlain($variables[$word] ?? null, 0)) {
                throw new Refused("`$word` may run code of the program or change it; evaluate with side effects allowed");
            }
        }
    }

    private static function isPlain($value, $depth)
    {
        if (!\is_array($value)) {
            return !\is_object($value);
        }
        foreach (\array_slice($value, 0, 1000) as $item) {
            if ($depth > 5 || !self::isPlain($item, $depth + 1)) {
                return false;
            }
        }
        return \count($value) <= 1000;
    }

    /** A variable with members and items behind it; none for any other expression. */
    private static function path($tokens, $variables)
    {
        [$kind, $word] = \array_shift($tokens) ?? [null, ''];
        $name = $kind === \T_VARIABLE ? \substr($word, 1) : $word;
        if ($kind !== \T_VARIABLE && ($kind !== \T_STRING || !\array_key_exists($name, $variables))) {
            return null;
        }
        if (!\array_key_exists($name, $variables) || $name === 'this' && $variables['this'] === null) {
            throw new Missing("Undefined variable \$$name");
        }
        $value = $variables[$name];
        while ($tokens) {
            [$kind] = \array_shift($tokens);
            if ($kind === \T_OBJECT_OPERATOR && ($tokens[0][0] ?? null) === \T_STRING && \is_object($value) && ($tokens[1][0] ?? null) !== '(') {
                $value = self::member($value, \array_shift($tokens)[1]);
            } elseif ($kind === '[' && ($tokens[1][0] ?? null) === ']' && \is_array($value) && \in_array($tokens[0][0], self::LITERALS, true)) {
                $key = eval('return ' . \array_shift($tokens)[1] . ';');
                \array_shift($tokens);
                if (!\array_key_exists($key, $value)) {
                    throw new Missing('Undefined array key ' . \var_export($key, true));
                }
                $value = $value[$key];
            } else {
                return null;
            }
        }
        return [$value];
    }

    private static function member($object, $name)
    {
        foreach (\get_mangled_object_vars($object) as $key => $value) {
            $parts = \explode("\0", (string) $key);
            if (\end($parts) === $name) {
                return $value;
            }
        }
        throw new Refused("`$name` is not a property of this " . \get_debug_type($object) . '; evaluate it with side effects allowed');
    }
}
