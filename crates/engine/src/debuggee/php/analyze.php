<?php
// Reads a source without running it: its functions, the lines where statements begin, and whether expressions compile.
// The question comes on standard input, the answer goes to standard output, both as JSON.

namespace Stillframe;

final class Analyzer
{
    private const SILENT = [\T_ELSE, \T_ELSEIF, \T_CATCH, \T_FINALLY, \T_CASE, \T_DEFAULT, \T_TRY, \T_DO, \T_NAMESPACE, \T_USE, \T_DECLARE, \T_OPEN_TAG, \T_OPEN_TAG_WITH_ECHO, \T_ENDIF, \T_ENDFOR, \T_ENDFOREACH, \T_ENDWHILE, \T_ENDSWITCH, \T_ATTRIBUTE];
    /** A statement may begin behind these. */
    private const OPENING = [\T_OPEN_TAG, \T_OPEN_TAG_WITH_ECHO, \T_TRY, \T_DO, \T_ELSE, \T_FINALLY];
    private const HEADED = [\T_IF, \T_ELSEIF, \T_FOR, \T_FOREACH, \T_WHILE];
    private const SKIPPED = [\T_WHITESPACE, \T_COMMENT, \T_DOC_COMMENT];
    private const CLASSES = [\T_CLASS, \T_INTERFACE, \T_TRAIT];
    private const MODIFIERS = [\T_ABSTRACT, \T_FINAL, \T_PUBLIC, \T_PROTECTED, \T_PRIVATE];
    private const OPEN = ['(', '[', '{', \T_CURLY_OPEN, \T_DOLLAR_OPEN_CURLY_BRACES, \T_ATTRIBUTE];
    private const CLOSE = [')', ']', '}'];
    private const MEMBER = [\T_OBJECT_OPERATOR, \T_NULLSAFE_OBJECT_OPERATOR, \T_DOUBLE_COLON];

    /** What is being compiled. */
    private static $compiled;

    public static function answer($question)
    {
        foreach (\array_merge($question['expressions'], ...\array_map([self::class, 'expressionsIn'], $question['messages'])) as $text) {
            $problem = self::refusal($text);
            if ($problem !== null) {
                return ['refused' => [['text' => $text, 'message' => $problem]]];
            }
        }
        return $question['file'] === null ? [] : self::file($question['file']);
    }

    private static function refusal($text)
    {
        if (\trim($text) === '') {
            return 'it is empty';
        }
        try {
            \token_get_all("<?php return ($text\n);", \TOKEN_PARSE);
            // An error of the compiler ends this process.
            self::$compiled = $text;
            eval("return function () { return ($text\n); };");
            self::$compiled = null;
            return null;
        } catch (\ParseError $error) {
            return 'SyntaxError: ' . $error->getMessage();
        }
    }

    /** Answers for the expression that the compiler refuses. */
    public static function ended()
    {
        if (self::$compiled !== null) {
            $message = 'CompileError: ' . (\error_get_last()['message'] ?? '');
            echo \json_encode(['refused' => [['text' => self::$compiled, 'message' => $message]]], \JSON_INVALID_UTF8_SUBSTITUTE);
        }
    }

    private static function expressionsIn($message)
    {
        \preg_match_all('/\{([^{}]*)\}/', \preg_replace('/\{\{|\}\}/', '', $message), $found);
        return $found[1];
    }

    private static function file($path)
    {
        $text = @\file_get_contents($path);
        if ($text === false) {
            return ['error' => 'cannot be read'];
        }
        try {
            \token_get_all($text, \TOKEN_PARSE);
        } catch (\ParseError $error) {
            $line = $error->getLine();
            $there = \trim(\explode("\n", $text)[$line - 1] ?? '');
            return ['error' => "cannot be compiled: SyntaxError: {$error->getMessage()} at line $line" . ($there === '' ? '' : ", `$there`")];
        }
        return (new self())->read($text);
    }

    private $lines = [];
    private $functions = [];
    private $nameless = [];

    private function read($text)
    {
        $tokens = [];
        $line = 1;
        foreach (\token_get_all($text) as $token) {
            [$kind, $word, $line] = \is_array($token) ? $token : [$token, $token, $line];
            if (!\in_array($kind, self::SKIPPED, true)) {
                $tokens[] = [$kind, $word, $line];
            }
            $line += \substr_count($word, "\n");
        }
        $this->walk($tokens);
        \ksort($this->lines);
        return ['lines' => \array_keys($this->lines), 'length' => \count(file_lines($text)), 'functions' => $this->functions, 'nameless' => $this->nameless];
    }

    private function walk($tokens)
    {
        // What each brace opens: its kind, the number of its function, or the name of its class.
        $open = [];
        $begins = true;
        $pending = ['block', null];
        // How deep in parentheses, and outside of which each header ends.
        $depth = 0;
        $headers = [];
        $isLabel = false;
        // Where the expressions of arrow functions begin: each is a statement.
        $bodies = [];
        foreach ($tokens as $at => [$kind, $word, $line]) {
            $before = $tokens[$at - 1][0] ?? null;
            $depth += ['(' => 1, ')' => -1][$kind] ?? 0;
            if (\in_array($kind, self::HEADED, true)) {
                $headers[] = $depth;
            }
            $isLabel = $kind === \T_CASE || $isLabel && $kind !== ';';
            $after = $tokens[$at + 1] ?? [null, '', $line];
            $begins = $begins || isset($bodies[$at]);
            if ($kind === \T_FN && !\in_array($before, self::MEMBER, true) && \in_array($after[1], ['(', '&'], true)) {
                [$body, $last] = self::arrow($tokens, $at);
                $bodies[$body] = true;
                $this->begin($begins, $open, $line);
                $this->nameless[] = [$this->beforeNameless($line), $last];
                $begins = false;
            }
            if ($kind === '{' || $kind === \T_CURLY_OPEN || $kind === \T_DOLLAR_OPEN_CURLY_BRACES) {
                $isPart = $kind !== '{' || \in_array($before, \array_merge(self::MEMBER, ['$']), true);
                $open[] = $isPart ? ['part', null, $begins] : [$pending[0], $pending[1], $begins];
                $begins = !$isPart && \in_array($pending[0], ['block', 'function', 'closure'], true);
                $pending = $isPart ? $pending : ['block', null];
            } elseif ($kind === '}') {
                [$what, $number] = \array_pop($open) ?? ['block', null];
                if ($what === 'function') {
                    $this->functions[$number]['end'] = $line;
                    $this->functions[$number]['body'] = $this->functions[$number]['body'] ?: $line;
                } elseif ($what === 'closure') {
                    $this->nameless[$number][1] = $line;
                }
                $begins = \in_array($what, ['block', 'function', 'class'], true);
            } elseif ($kind === ';' || $kind === \T_CLOSE_TAG) {
                $begins = true;
                if ($pending[0] === 'function') {
                    // One of an interface, or an abstract one, has no code.
                    \array_pop($this->functions);
                }
                $pending = ['block', null];
            } elseif ($kind === \T_FUNCTION) {
                $name = $after[1] === '&' ? ($tokens[$at + 2] ?? $after) : $after;
                $isNamed = $name[0] !== '(';
                if ($isNamed && $before !== \T_USE) {
                    $pending = ['function', \count($this->functions)];
                    $around = \array_filter(\array_map(function ($one) {
                        return $one[0] === 'class' ? $one[1] : ($one[0] === 'function' ? $this->functions[$one[1]]['own'] : null);
                    }, $open));
                    $this->functions[] = ['name' => \implode('.', \array_merge($around, [$name[1]])), 'own' => $name[1], 'start' => $line, 'header' => $name[2], 'body' => 0, 'end' => $line];
                } elseif (!$isNamed) {
                    $this->begin($begins, $open, $line);
                    $pending = ['closure', \count($this->nameless)];
                    $this->nameless[] = [$this->beforeNameless($line), $line];
                }
                $begins = false;
            } elseif (\in_array($kind, self::CLASSES, true) && $before !== \T_DOUBLE_COLON || \defined('T_ENUM') && $kind === \T_ENUM) {
                $pending = ['class', $after[0] === \T_STRING ? $after[1] : null];
                $begins = false;
            } elseif (\defined('T_MATCH') && $kind === \T_MATCH) {
                $this->begin($begins, $open, $line);
                $pending = ['match', null];
                $begins = false;
            } elseif (\in_array($kind, self::SILENT, true)) {
                $begins = \in_array($kind, self::OPENING, true);
            } elseif (\in_array($kind, self::MODIFIERS, true) || \defined('T_READONLY') && $kind === \T_READONLY) {
                $begins = false;
            } elseif ($kind === \T_STRING && $begins && $after[0] === ':' && !isset($bodies[$at])) {
                // `end:`, where `goto` goes to.
            } elseif ($kind === ':' && ($isLabel || $begins && \in_array($before, [')', \T_STRING], true) || \in_array($before, [\T_DEFAULT, \T_ELSE], true))) {
                $begins = true;
                $isLabel = false;
            } elseif ($kind === ')' && \end($headers) === $depth) {
                // The body needs no braces.
                \array_pop($headers);
                $begins = true;
            } elseif ($kind === \T_INLINE_HTML) {
                // The line of an interpreter, `#!`, is not printed.
                $this->begin($at > 0 || \strncmp($word, '#!', 2) !== 0, $open, $line);
                $begins = true;
            } else {
                $this->begin($begins, $open, $line);
                $begins = false;
            }
        }
    }

    /** Where the expression of an arrow function begins, and the line where it ends. */
    private static function arrow($tokens, $at)
    {
        $body = null;
        for ($depth = 0; isset($tokens[$at]); $at++) {
            $kind = $tokens[$at][0];
            if ($depth === 0 && ($kind === ',' || $kind === ';' || $kind === \T_CLOSE_TAG || \in_array($kind, self::CLOSE, true))) {
                break;
            }
            $body = $body ?? ($depth === 0 && $kind === \T_DOUBLE_ARROW ? $at + 1 : null);
            $depth += \in_array($kind, self::OPEN, true) ? 1 : (\in_array($kind, self::CLOSE, true) ? -1 : 0);
        }
        return [$body, $tokens[$at - 1][2]];
    }

    /**
     * The last line that does not belong to a function without a name: the one that it begins on, if a statement around
     * it does so, too.
     */
    private function beforeNameless($line)
    {
        return isset($this->lines[$line]) ? $line : $line - 1;
    }

    /** A statement begins here, unless this is the body of a class. */
    private function begin($begins, $open, $line)
    {
        $around = \end($open) ?: ['block', null];
        if (!$begins || $around[0] === 'class') {
            return;
        }
        $this->lines[$line] = true;
        foreach (\array_reverse($open) as [$what, $number]) {
            if ($what === 'function') {
                $this->functions[$number]['body'] = $this->functions[$number]['body'] ?: $line;
            }
            if ($what === 'function' || $what === 'closure') {
                return;
            }
        }
    }
}

function file_lines($text)
{
    $lines = \explode("\n", $text);
    return \end($lines) === '' ? \array_slice($lines, 0, -1) : $lines;
}

\ini_set('display_errors', '0');
\register_shutdown_function([Analyzer::class, 'ended']);
echo \json_encode(Analyzer::answer(\json_decode(\stream_get_contents(\STDIN), true)), \JSON_INVALID_UTF8_SUBSTITUTE);
