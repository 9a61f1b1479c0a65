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

    /** Remembers what the program has thrown, and says which frame catches it. */
    public static function thrown($class, $message, $frames)
    {
        self::$error = new Thrown();
        self::$error->class = $class;
        self::$error->message = $message;
        return ['catcher' => self::catcher($class, $frames)];
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
     * @param array $frames the file and line of each, innermost first
     */
    private static function catcher($class, $frames)
    {
        foreach ($frames as $at => [$file, $line]) {
            [$regions, $functions] = self::read($file);
            foreach ($regions as [$from, $to, $function, $kinds]) {
                if ($line < $from || $line > $to || self::function($functions, $line) !== $function) {
                    continue;
                }
                foreach ($kinds as $kind) {
                    if (\is_a($class, $kind, true)) {
                        return $at;
                    }
                }
            }
        }
        return null;
    }

    /** The innermost function around a line. */
    private static function function($functions, $line)
    {
        $found = null;
        foreach ($functions as $at => [$from, $to]) {
            if ($from <= $line && $line <= $to && ($found === null || $from >= $functions[$found][0])) {
                $found = $at;
            }
        }
        return $found;
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
    /** Each with its kind, its text and its line. */
    private $tokens = [];
    private $at = 0;
    private $namespace = '';
    private $imports = [];
    private $regions = [];
    private $functions = [];

    public function __construct($text)
    {
        $line = 1;
        foreach (\token_get_all($text) as $token) {
            [$kind, $word, $line] = \is_array($token) ? $token : [$token, $token, $line];
            if (!\in_array($kind, [\T_WHITESPACE, \T_COMMENT, \T_DOC_COMMENT], true)) {
                $this->tokens[] = [$kind, $word, $line];
            }
            $line += \substr_count($word, "\n");
        }
    }

    /** The code in each `try` with its function and the classes that are caught, and the lines of the functions. */
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
        while (($kind = $this->peek()) !== null && $kind !== '{' && $kind !== ';') {
            $this->next();
        }
        if ($this->peek() !== '{') {
            return;
        }
        $this->next();
        $number = \count($this->functions);
        $this->functions[] = [$from, \PHP_INT_MAX];
        $this->block($number, false);
        $this->functions[$number][1] = $this->line();
    }

    private function try($function)
    {
        $this->next();
        $from = $this->line();
        $this->block($function, false);
        // The line of the brace may be that of code in a `catch`.
        $to = $this->tokens[$this->at - 2][2] ?? $from;
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
            $this->regions[] = [$from, $to, $function, $kinds];
            while (($kind = $this->peek()) !== null && $kind !== '{') {
                $this->next();
            }
            $this->next();
            $this->block($function, false);
        }
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
