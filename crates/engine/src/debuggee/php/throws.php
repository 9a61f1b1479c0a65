<?php
// What catches an exception, read from the sources of the frames: Xdebug stops at every throw and does not distinguish.

namespace Stillframe;

/** An exception as the debugger knows it: Xdebug hides the object itself. */
final class Thrown
{
    public $class;
    public $message;
}

final class Throws
{
    /** What the program has stopped at. */
    public static $error;
    private static $files = [];

    /** Remembers what the program has thrown, and says which frame catches it, and the file of that one. */
    public static function thrown($class, $message, $frames)
    {
        self::$error = new Thrown();
        self::$error->class = $class;
        self::$error->message = $message;
        $frames = \array_merge(self::within($frames), self::resuming());
        $at = self::catcher($class, $frames);
        return ['catcher' => $at, 'file' => $at === null ? null : $frames[$at][0]];
    }

    /**
     * The file that a line includes and the line of it that the compiler refuses: Xdebug knows only the one that includes
     * it. Null if that is not known.
     */
    public static function refused($file, $line, $message, $variables)
    {
        $name = self::included($file, $line, $variables);
        $path = $name === null ? false : (\stream_resolve_include_path($name) ?: \realpath(\dirname($file) . '/' . $name));
        try {
            \token_get_all($path === false ? '' : (string) @\file_get_contents($path), \TOKEN_PARSE);
        } catch (\ParseError $error) {
            return $error->getMessage() === $message ? ['file' => $path, 'line' => $error->getLine()] : null;
        }
        return null;
    }

    /** The name of the file that a line includes, if only texts and variables are in it. */
    private static function included($file, $line, $variables)
    {
        $name = null;
        foreach (\function_exists('token_get_all') ? \token_get_all((string) @\file_get_contents($file)) : [] as $token) {
            [$kind, $word, $at] = \is_array($token) ? $token : [$token, $token, 0];
            if (\in_array($kind, [\T_INCLUDE, \T_INCLUDE_ONCE, \T_REQUIRE, \T_REQUIRE_ONCE], true)) {
                $name = $at === $line ? '' : $name;
            } elseif ($name === null || \in_array($kind, ['.', '(', ')', '"', '}', \T_CURLY_OPEN, \T_WHITESPACE], true)) {
                continue;
            } elseif ($kind === ';') {
                return $name;
            } elseif ($kind === \T_DIR) {
                $name .= \dirname($file);
            } elseif ($kind === \T_CONSTANT_ENCAPSED_STRING) {
                $name .= \substr($word, 1, -1);
            } elseif ($kind === \T_ENCAPSED_AND_WHITESPACE) {
                $name .= $word;
            } elseif ($kind === \T_VARIABLE && \is_string($variables[\substr($word, 1)] ?? null)) {
                $name .= $variables[\substr($word, 1)];
            } else {
                return null;
            }
        }
        return null;
    }

    /** `Generator::throw` throws in the generator, whose frame Xdebug does not have. */
    private static function within($frames)
    {
        if ($frames === [] || $frames[0][2] !== 'Generator->throw') {
            return $frames;
        }
        $calls = \debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS);
        while ($calls !== [] && \strpos($calls[0]['file'] ?? 'xdebug:', 'xdebug:') === 0) {
            \array_shift($calls);
        }
        if (\count($calls) > 1) {
            $frames[0] = [$calls[0]['file'], $calls[0]['line'], self::name($calls[1])];
        }
        return $frames;
    }

    private static function name($call)
    {
        return (isset($call['class']) ? $call['class'] . '::' : '') . $call['function'];
    }

    /** The frames that have resumed the fiber that runs, innermost first: Xdebug ends at the fiber. */
    private static function resuming()
    {
        if (!\class_exists('Fiber', false) || \Fiber::getCurrent() === null) {
            return [];
        }
        $calls = \debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS);
        $found = [];
        $isOutside = false;
        foreach ($calls as $at => $call) {
            $isOutside = $isOutside || ($call['class'] ?? null) === 'Fiber';
            if ($isOutside && isset($call['file'])) {
                $around = $calls[$at + 1] ?? ['function' => '{main}'];
                $found[] = [$call['file'], $call['line'], self::name($around)];
            }
        }
        return $found;
    }

    public static function isA($name)
    {
        $class = self::$error->class;
        $names = \array_merge([$class], \array_values(@\class_parents($class) ?: []), \array_values(@\class_implements($class) ?: []));
        foreach ($names as $known) {
            if (\strcasecmp($known, \ltrim($name, '\\')) === 0 || \strcasecmp(\substr(\strrchr('\\' . $known, '\\'), 1), $name) === 0) {
                return true;
            }
        }
        return false;
    }

    public static function isLike($pattern)
    {
        return \preg_match('~' . \str_replace('~', '\\~', $pattern) . '~u', self::$error->class . ': ' . self::$error->message) === 1;
    }

    /**
     * The first of the frames that catches an exception of a class; none if nothing does.
     *
     * @param array $frames the file, line and name of each, innermost first
     */
    private static function catcher($class, $frames)
    {
        // What has thrown in a frame: the function that it has called, if it was not the frame itself.
        $thrower = 'throw';
        foreach ($frames as $at => [$file, $line, $name]) {
            [$regions, $functions] = self::read($file);
            $function = self::function($functions, $line, $name);
            foreach ($function === false ? [] : $regions as [$from, $to, $around, $kinds, $shared]) {
                if ($line < $from || $line > $to || $around !== $function) {
                    continue;
                }
                if ($line === $to && isset($shared['catch'][$thrower]) && !isset($shared['try'][$thrower])) {
                    continue;
                }
                foreach ($kinds as $kind) {
                    if (\is_a($class, $kind, true)) {
                        return $at;
                    }
                }
            }
            $short = self::short($name);
            $thrower = $short === '__construct' ? 'new' : $short;
        }
        return null;
    }

    /**
     * The function of a frame at a line: none for the code outside of functions, false if it is none of these.
     *
     * Several may be around the line, such as a closure that begins where it is passed on.
     */
    private static function function($functions, $line, $name)
    {
        if (\in_array($name, ['{main}', 'include', 'include_once', 'require', 'require_once', 'eval'], true)) {
            return null;
        }
        $isClosure = \strpos($name, '{closure') !== false;
        // `{closure:/src/cart.php:10-12}`
        $lines = \preg_match('/:(\d+)-(\d+)\}$/', $name, $match) ? [(int) $match[1], (int) $match[2]] : null;
        $short = self::short($name);
        [$found, $named] = [false, false];
        foreach ($functions as $at => [$from, $to, $own]) {
            if ($line < $from || $line > $to) {
                continue;
            }
            if ($isClosure ? $own === '' && ($lines === null || $lines === [$from, $to]) : $own === $short) {
                $found = $at;
            }
            $named = $own === '' ? $named : $at;
        }
        // A class may give a method of a trait another name.
        $isAlias = $found === false && !$isClosure && $name[0] !== '{' && Functions::native([$name])[0] === '';
        return $isAlias ? $named : $found;
    }

    /** The name of a function without its class and its namespace, in small letters. */
    private static function short($name)
    {
        return \strtolower(\preg_replace('/^.*(?:->|::|\\\\)/', '', \explode(':{', $name)[0]));
    }

    private static function read($file)
    {
        if (!isset(self::$files[$file])) {
            $text = \function_exists('token_get_all') ? @\file_get_contents($file) : false;
            self::$files[$file] = $text === false ? [[], []] : (new Sources($text))->read();
        }
        return self::$files[$file];
    }
}

/** Reads the `try` statements of a file. */
final class Sources
{
    private $tokens;
    private $at = 0;
    private $namespace = '';
    private $imports = [];
    private $regions = [];
    private $functions = [];

    public function __construct($text)
    {
        $this->tokens = Imports::tokens($text);
    }

    /**
     * The code in each `try` with its function, the classes that are caught and what is on a line with a `catch`, and the
     * lines and names of the functions.
     */
    public function read()
    {
        $this->block(null, true);
        return [$this->regions, $this->functions];
    }

    /** The kind of the next token, which is taken. */
    private function next()
    {
        return $this->tokens[$this->at++][0] ?? null;
    }

    /** The kind of the next token. */
    private function peek()
    {
        return $this->tokens[$this->at][0] ?? null;
    }

    /** The line of the token that was taken last. */
    private function line()
    {
        return $this->tokens[$this->at - 1][2] ?? 1;
    }

    /** Reads up to the brace that closes a block. */
    private function block($function, $isOuter)
    {
        while (($kind = $this->next()) !== null) {
            if ($kind === '{' || $kind === \T_CURLY_OPEN || $kind === \T_DOLLAR_OPEN_CURLY_BRACES) {
                $this->block($function, $isOuter);
            } elseif ($kind === '}') {
                return;
            } elseif ($kind === \T_TRY) {
                $this->try($function);
            } elseif ($kind === \T_FUNCTION) {
                $this->function($function);
            } elseif ($kind === \T_NAMESPACE && $this->peek() !== \T_NS_SEPARATOR) {
                $this->namespace = $this->name();
                $this->imports = [];
            } elseif ($kind === \T_USE && $isOuter && $this->peek() !== '(') {
                $this->imports();
            } elseif (\in_array($kind, [\T_CLASS, \T_TRAIT, \T_INTERFACE], true)) {
                $isOuter = $isOuter && $this->peek() === '{';
            }
        }
    }

    private function function($outer)
    {
        $from = $this->line();
        $at = $this->at + (($this->tokens[$this->at][1] ?? '') === '&' ? 1 : 0);
        $name = $this->tokens[$at][1] ?? '(';
        while (($kind = $this->peek()) !== null && $kind !== '{' && $kind !== ';') {
            $this->next();
        }
        if ($this->peek() !== '{') {
            return;
        }
        $this->next();
        $number = \count($this->functions);
        $this->functions[] = [$from, \PHP_INT_MAX, $name === '(' ? '' : \strtolower($name)];
        $this->block($number, false);
        $this->functions[$number][1] = $this->line();
    }

    private function try($function)
    {
        $this->next();
        $from = $this->line();
        $begin = $this->at;
        $this->block($function, false);
        // The line of the brace may be that of code in a `catch`.
        $to = $this->tokens[$this->at - 2][2] ?? $from;
        [$end, $regions] = [$this->at, []];
        while ($this->peek() === \T_CATCH) {
            $this->next();
            $this->next();
            $kinds = [];
            while (($name = $this->name()) !== '') {
                $kinds[] = $this->resolved($name);
                if ($this->peek() === '|') {
                    $this->next();
                }
            }
            $regions[] = [$from, $to, $function, $kinds];
            while (($kind = $this->peek()) !== null && $kind !== '{') {
                $this->next();
            }
            $this->next();
            $this->block($function, false);
        }
        $shared = ['try' => $this->words($begin, $end, $to), 'catch' => $this->words($end, $this->at, $to)];
        foreach ($regions as $region) {
            $this->regions[] = \array_merge($region, [$shared]);
        }
    }

    /** The words on a line, among these tokens. */
    private function words($from, $to, $line)
    {
        $found = [];
        foreach (\array_slice($this->tokens, $from, $to - $from) as [, $word, $on]) {
            $found += $on === $line ? [\strtolower($word) => true] : [];
        }
        return $found;
    }

    private function name()
    {
        $name = '';
        while (self::isName($this->peek())) {
            $name .= $this->tokens[$this->at++][1];
        }
        return $name;
    }

    private static function isName($kind)
    {
        $kinds = [\T_STRING, \T_NS_SEPARATOR];
        foreach (['T_NAME_QUALIFIED', 'T_NAME_FULLY_QUALIFIED', 'T_NAME_RELATIVE'] as $name) {
            $kinds[] = \defined($name) ? \constant($name) : \T_STRING;
        }
        return \in_array($kind, $kinds, true);
    }

    private function imports()
    {
        do {
            $name = \ltrim($this->name(), '\\');
            if ($this->peek() === '{') {
                $this->next();
                do {
                    $part = $this->name();
                    $this->import($name . $part);
                } while ($this->next() === ',');
            } else {
                $this->import($name);
            }
        } while ($this->peek() === ',' && $this->next());
    }

    private function import($name)
    {
        $short = \substr(\strrchr('\\' . $name, '\\'), 1);
        if ($this->peek() === \T_AS) {
            $this->next();
            $short = $this->name();
        }
        $this->imports[\strtolower($short)] = $name;
    }

    private function resolved($name)
    {
        if ($name[0] === '\\') {
            return \substr($name, 1);
        }
        [$first, $rest] = \array_pad(\explode('\\', $name, 2), 2, null);
        $import = $this->imports[\strtolower($first)] ?? null;
        if ($import !== null) {
            return $rest === null ? $import : "$import\\$rest";
        }
        return $this->namespace === '' ? $name : $this->namespace . '\\' . $name;
    }
}
