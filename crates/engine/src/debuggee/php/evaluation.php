<?php
// Evaluates expressions in a frame of the program. Xdebug clears an exception without reporting it and runs
// expressions without a time limit, so ours are wrapped: `frame` in `debugger/dbgp/agent.rs` has the wrapper.

namespace Stillframe;

/** Ends an expression that takes too long. */
final class Interrupted extends \Exception
{
}

/** An expression names what is not there. PHP itself only warns. */
final class Missing extends \Exception
{
}

final class Evaluation
{
    /** What the last expression has left for the debugger. */
    public static $result;
    /** The variable that the last expression was, if it was nothing else. */
    public static $name;
    private static $running = 0;
    private static $pauses = false;

    /** The debugger pauses the program, or ends an expression, with a signal. */
    public static function start()
    {
        self::$pauses = \function_exists('pcntl_async_signals') && \defined('SIGURG');
        if (self::$pauses) {
            \pcntl_async_signals(true);
        }
        // If the handler were our own function, the program would stop in it.
        self::onSignal('xdebug_break');
        $request = \PHP_SAPI === 'cli' ? null : \trim(($_SERVER['REQUEST_METHOD'] ?? '') . ' ' . ($_SERVER['REQUEST_URI'] ?? ''));
        return ['pid' => \getmypid(), 'pauses' => self::$pauses, 'request' => $request];
    }

    private static function onSignal($handler)
    {
        if (self::$pauses) {
            \pcntl_signal(\SIGURG, $handler);
        }
    }

    /** Lets a signal go that the program has not handled yet. */
    public static function drain()
    {
        if (self::$pauses) {
            self::onSignal(function () {
            });
            \pcntl_signal_dispatch();
        }
        self::onSignal('xdebug_break');
    }

    public static function take()
    {
        $result = \json_encode(self::$result, \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_UNESCAPED_SLASHES | \JSON_PARTIAL_OUTPUT_ON_ERROR);
        self::$result = null;
        return $result;
    }

    /** Runs one of our functions, and leaves its result. The program's handler may throw at warnings that are ours. */
    public static function call($function)
    {
        \set_error_handler(function () {
            return true;
        });
        try {
            return $function();
        } catch (\Throwable $error) {
            return self::failed($error);
        } finally {
            \restore_error_handler();
        }
    }

    /** An expression without side effects. */
    public static function pure($encoded, $variables, $self, $limit, $frame)
    {
        self::begin();
        try {
            return Pure::of($encoded, $variables, $self, $limit, $frame);
        } catch (\Throwable $error) {
            return self::failed($error);
        } finally {
            self::end();
        }
    }

    /**
     * Evaluates code in a frame that waits for a method of PHP's own: the code around has the frame's variables, but the
     * object and the class of that method.
     */
    public static function waiting($variables, $encoded, $called)
    {
        $calls = \array_filter(\debug_backtrace(\DEBUG_BACKTRACE_PROVIDE_OBJECT), function ($call) {
            return $call['function'] !== 'eval';
        });
        // Before the frame are this function, and those that it waits for.
        $frame = \array_values($calls)[1 + $called] ?? [];
        $run = function () {
            \extract(\func_get_arg(0), \EXTR_REFS);
            return eval('return ' . \base64_decode(\func_get_arg(1)) . ';');
        };
        $run = isset($frame['class']) ? \Closure::bind($run, $frame['object'] ?? null, $frame['class']) : $run;
        return $run($variables, $encoded);
    }

    public static function begin()
    {
        if (self::$running++ === 0) {
            self::onSignal(function () {
                throw new Interrupted('the expression took too long');
            });
        }
        \set_error_handler(function ($kind, $text, $file) {
            // Functions of the program that the expression calls, and what stands after `@`, only warn.
            $isOurs = \substr($file, -13) === "eval()'d code" && (\error_reporting() & $kind);
            if ($isOurs && \preg_match('/^Undefined (variable|array key|property|offset|index)/', $text)) {
                throw new Missing($text);
            }
            return true;
        });
    }

    public static function end()
    {
        \restore_error_handler();
        if (--self::$running === 0) {
            self::onSignal('xdebug_break');
        }
    }

    public static function failed($error)
    {
        if ($error instanceof Missing) {
            return ['error' => $error->getMessage()];
        }
        if ($error instanceof Interrupted) {
            return ['error' => 'Interrupted: ' . $error->getMessage()];
        }
        if ($error instanceof Refused) {
            return ['error' => $error->getMessage()];
        }
        $kind = \get_debug_type($error);
        return ['error' => $kind . ': ' . Values::message($error), 'raised' => $kind];
    }

    /**
     * The code for an expression at a line, or for statements. A bare name that is not a constant means the variable of
     * that name: in PHP it is an error.
     */
    public static function code($encoded, $variables, $file, $line)
    {
        $code = \base64_decode($encoded);
        self::$name = null;
        if (\trim($code) === '') {
            throw new \ParseError('the expression is empty');
        }
        if (!\function_exists('token_get_all')) {
            return "return ($code\n);";
        }
        $isExpression = self::isValid("return ($code\n);");
        [$namespace, $names] = Imports::at($file, $line);
        $code = self::named($code, $variables, $namespace, $names);
        self::$name = \preg_match('/^\s*\$(\w+)\s*$/', $code, $found) && $found[1] !== 'this' ? $found[1] : null;
        $code = $isExpression ? "return ($code\n);" : "$code\n;";
        Compiler::check($code, $namespace, $names);
        return $names . $code;
    }

    private static function isValid($code)
    {
        try {
            \token_get_all('<?php ' . $code, \TOKEN_PARSE);
            return true;
        } catch (\ParseError $error) {
            return false;
        }
    }

    private static function named($code, $variables, $namespace, $names)
    {
        $tokens = \array_slice(\token_get_all('<?php ' . $code), 1);
        $isSpace = function ($token) {
            return \is_array($token) && \in_array($token[0], [\T_WHITESPACE, \T_COMMENT, \T_DOC_COMMENT], true);
        };
        $solid = \array_values(\array_filter($tokens, function ($token) use ($isSpace) {
            return !$isSpace($token);
        }));
        $text = '';
        $at = -1;
        foreach ($tokens as $token) {
            if ($isSpace($token)) {
                $text .= $token[1];
                continue;
            }
            $at++;
            $word = \is_array($token) ? $token[1] : $token;
            if (\is_array($token) && $token[0] === \T_STRING && self::standsAlone($solid, $at)) {
                $word = self::variable($word, $variables);
            } elseif ($word === '$error' && Throws::$error !== null && !\array_key_exists('error', $variables)) {
                $word = '\Stillframe\Throws::$error';
            } elseif (\is_array($token) && $namespace !== '' && self::isWhole($token, $namespace, $names)) {
                $word = '\\' . $word;
            }
            $text .= $word;
        }
        return $text;
    }

    /** Whether a name such as `Shop\Item` lacks its first `\`, as where it is shown: only with that is there one. */
    private static function isWhole($token, $namespace, $names)
    {
        if (\token_name($token[0]) !== 'T_NAME_QUALIFIED') {
            return false;
        }
        $first = \strstr($token[1], '\\', true);
        $isImported = \preg_match("/\\b$first\s*[,;}]/i", \substr($names, \strlen("namespace $namespace; ")));
        return !$isImported && !self::isKnown("$namespace\\$token[1]") && self::isKnown($token[1]);
    }

    private static function isKnown($name)
    {
        return \class_exists($name, false) || \interface_exists($name, false) || \function_exists($name);
    }

    /** Whether a name is one of a constant, rather than of a function, class, member or argument. */
    private static function standsAlone($tokens, $at)
    {
        $before = $tokens[$at - 1] ?? null;
        $after = $tokens[$at + 1] ?? null;
        $kinds = [\T_OBJECT_OPERATOR, \T_DOUBLE_COLON, \T_CLASS, \T_NEW, \T_FUNCTION, \T_INSTANCEOF, \T_NS_SEPARATOR, \T_CONST, \T_CLASS];
        if (\defined('T_NULLSAFE_OBJECT_OPERATOR')) {
            $kinds[] = \T_NULLSAFE_OBJECT_OPERATOR;
        }
        if (\is_array($before) && \in_array($before[0], $kinds, true)) {
            return false;
        }
        if ($after === '(' || \is_array($after) && \in_array($after[0], [\T_DOUBLE_COLON, \T_NS_SEPARATOR, \T_VARIABLE], true)) {
            return false;
        }
        // A named argument.
        return !($after === ':' && \in_array($before, ['(', ','], true));
    }

    private static function variable($name, $variables)
    {
        if (\array_key_exists($name, $variables) || $name === 'this') {
            return '$' . $name;
        }
        if ($name === 'error' && Throws::$error !== null) {
            return '\Stillframe\Throws::$error';
        }
        if (\defined($name) || !\array_key_exists($name, $GLOBALS)) {
            return $name;
        }
        return "\$GLOBALS['$name']";
    }
}

/** A request cannot be fulfilled; the message is for the user. */
final class Refused extends \Exception
{
}

/** Refuses code that PHP cannot compile: an error of the compiler ends the program, and no handler is asked. */
final class Compiler
{
    /** Code of nothing else, except for lists with gaps, has no such errors. */
    private const HARMLESS = [
        \T_WHITESPACE, \T_VARIABLE, \T_STRING, \T_NS_SEPARATOR, \T_LNUMBER, \T_DNUMBER, \T_CONSTANT_ENCAPSED_STRING,
        \T_OBJECT_OPERATOR, \T_DOUBLE_COLON, \T_NEW, \T_INSTANCEOF, \T_RETURN, \T_IS_EQUAL, \T_IS_NOT_EQUAL, \T_IS_IDENTICAL,
        \T_IS_NOT_IDENTICAL, \T_IS_SMALLER_OR_EQUAL, \T_IS_GREATER_OR_EQUAL, \T_SPACESHIP, \T_BOOLEAN_AND, \T_BOOLEAN_OR, \T_COALESCE,
        '+', '-', '*', '/', '%', '.', '<', '>', '!', '(', ')', '[', ']', ',', ';',
    ];
    private const KINDS = [\T_CLASS, \T_INTERFACE, \T_TRAIT];

    private static $known = [];

    public static function check($code, $namespace, $names)
    {
        $key = $names . $code;
        if (!isset(self::$known[$key])) {
            $problem = self::problem($code, $namespace, $names);
            if ($problem !== null) {
                throw new Refused($problem);
            }
            // A function or class that it declares can be declared once.
            self::$known += \strpos($code, '{') === false ? [$key => true] : [];
        }
    }

    private static function problem($code, $namespace, $names)
    {
        $tokens = \token_get_all("<?php $code");
        $isHarmless = true;
        $solid = [];
        foreach (\array_slice($tokens, 1) as $token) {
            $name = \is_array($token) ? \token_name($token[0]) : '';
            $isHarmless = $isHarmless && (\in_array(\is_array($token) ? $token[0] : $token, self::HARMLESS, true) || \strncmp($name, 'T_NAME_', 7) === 0);
            if (!\in_array($name, ['T_WHITESPACE', 'T_COMMENT', 'T_DOC_COMMENT'], true)) {
                $solid[] = \is_array($token) ? $token : [$token, $token];
            }
        }
        if ($isHarmless && !\preg_match('/[\[,]\s*[\],]/', $code)) {
            return null;
        }
        return self::declared($solid, $namespace) ?? self::refusal($names . $code);
    }

    /** What the compiler would refuse because of what the program has declared. */
    private static function declared($tokens, $namespace)
    {
        $namespace = $namespace === '' ? '' : "$namespace\\";
        $depth = 0;
        foreach ($tokens as $at => [$kind, $word]) {
            $depth += $kind === '{' || $kind === \T_CURLY_OPEN || $kind === \T_DOLLAR_OPEN_CURLY_BRACES ? 1 : ($kind === '}' ? -1 : 0);
            [$next, $name] = $tokens[$at + 1] ?? [null, ''];
            $isClass = \in_array($kind, self::KINDS, true) || \defined('T_ENUM') && $kind === \T_ENUM;
            if ($kind === \T_NAMESPACE && $next !== \T_NS_SEPARATOR && $next !== '{') {
                $namespace = "$name\\";
            } elseif ($kind === \T_EXTENDS || $kind === \T_IMPLEMENTS) {
                return "an expression cannot declare a class that $word another: if the two do not fit, PHP ends the program";
            } elseif ($kind === \T_FUNCTION && $next === \T_STRING && $depth === 0 && \function_exists($namespace . $name)) {
                return "the program has a function `$namespace$name` already";
            } elseif ($isClass && $next === \T_STRING && ($tokens[$at - 1][0] ?? null) !== \T_DOUBLE_COLON
                && (\class_exists($namespace . $name, false) || \interface_exists($namespace . $name, false) || \trait_exists($namespace . $name, false))) {
                return "the program has a class `$namespace$name` already";
            }
        }
        return null;
    }

    /** What another process says, which compiles the code and does not run it. */
    private static function refusal($code)
    {
        if (!\function_exists('proc_open') || \PHP_BINARY === '') {
            return null;
        }
        $process = @\proc_open([\PHP_BINARY, '-n', '-d', 'display_errors=1', '-l'], [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
        if (!\is_resource($process)) {
            return null;
        }
        \fwrite($pipes[0], "<?php $code");
        \fclose($pipes[0]);
        $text = (string) \stream_get_contents($pipes[1]);
        \proc_close($process);
        $isBad = \preg_match('/(?:Fatal|Parse) error:\s+(.*) in Standard input code/s', $text, $found) === 1;
        return $isBad ? "CompileError: $found[1]" : null;
    }
}
