<?php
// Where functions are.

namespace Stillframe;

final class Functions
{
    /** How many files, and entries of folders, are read in search of one that is not loaded. */
    private const FILES = 500;
    private const ENTRIES = 20000;
    private const LIBRARIES = ['vendor', 'node_modules'];

    private static $files = [];

    /**
     * The functions of a name, loaded or in the sources below these folders: `deposit`, `Account.deposit`,
     * `Account::deposit`, `Account->deposit`. Each is a class or none, the name of the function, its file and its first
     * line, and whether to stop on that line: Xdebug knows the call of a method by the class of its object, which may be
     * another one than that of the method, and a nameless class by its address.
     */
    public static function places($name, $folders)
    {
        $found = \array_map(function ($place) {
            return $place + ['isLoaded' => true];
        }, self::find($name));
        return \array_merge($found, self::unloaded($name, $folders));
    }

    /** Whether a class comes from a package, and not from PHP itself or from the program. */
    public static function isOfLibrary($class)
    {
        $file = (string) $class->getFileName();
        return \strncmp($file, '/usr/share/php/', 15) === 0 || \array_intersect(\explode('/', $file), self::LIBRARIES);
    }

    private static function find($name)
    {
        [$class, $function] = self::parts($name);
        $found = [];
        if ($class === null) {
            foreach (\get_defined_functions()['user'] as $known) {
                $short = \substr(\strrchr('\\' . $known, '\\'), 1);
                if (\strcasecmp($known, \ltrim($function, '\\')) === 0 || \strcasecmp($short, $function) === 0) {
                    $found[] = self::place(null, new \ReflectionFunction($known));
                }
            }
        }
        foreach (\array_merge(\get_declared_classes(), \get_declared_traits()) as $known) {
            // Reflection does not know the `__invoke` of this class.
            if ($known === 'Closure' || !self::isOf($known, $class) || !\method_exists($known, $function)) {
                continue;
            }
            $method = new \ReflectionMethod($known, $function);
            if ($method->isUserDefined() && !$method->isAbstract() && \strcasecmp($method->getDeclaringClass()->getName(), $known) === 0) {
                $found[] = self::place($known, $method);
            }
        }
        $lines = [];
        foreach ($found as $place) {
            $lines += $place['byLine'] ? ["{$place['file']}:{$place['line']}" => true] : [];
        }
        return \array_values(\array_filter($found, function ($place) use ($lines) {
            if (!$place['byLine'] && isset($lines["{$place['file']}:{$place['line']}"])) {
                return false;
            }
            return \strncmp($place['name'], 'Stillframe\\', 11) !== 0 && \strncmp((string) $place['class'], 'Stillframe\\', 11) !== 0;
        }));
    }

    private static function unloaded($name, $folders)
    {
        [$class, $function] = self::parts($name);
        $short = \substr(\strrchr('\\' . ($class ?? $function), '\\'), 1);
        [$found, $classes] = [[], []];
        foreach (\function_exists('token_get_all') ? self::sources($folders) : [] as $file) {
            $text = (string) @\file_get_contents($file);
            foreach (\stripos($text, $short) === false ? [] : self::declared($text) as [$of, $own, $line, , $isOpen]) {
                $place = ['class' => $of, 'name' => $own, 'file' => $file, 'line' => $line, 'byLine' => $own !== '' && $of !== null];
                if ($own === '') {
                    // Its method may be one of a trait, or of a class that it extends.
                    $classes = \array_merge($classes, $class !== null && !$isOpen && self::isOf($of, $class) ? [['name' => $function] + $place] : []);
                    continue;
                }
                $isNamed = \strcasecmp($own, $of === null ? \ltrim($function, '\\') : $function) === 0;
                $isNamed = $isNamed || $of === null && \strcasecmp(\substr(\strrchr('\\' . $own, '\\'), 1), $function) === 0;
                if ($isNamed && ($of === null ? $class === null : self::isOf($of, $class))) {
                    $found[] = $place;
                }
            }
        }
        return $found ?: $classes;
    }

    /**
     * The functions with code, and the classes, of a source: the class or none, the name of the function or nothing, the
     * line, that of the name, and whether the class is a trait or nameless.
     */
    private static function declared($text)
    {
        $tokens = \array_values(\array_filter(\token_get_all($text), function ($token) {
            return !\is_array($token) || !\in_array($token[0], [\T_WHITESPACE, \T_COMMENT, \T_DOC_COMMENT], true);
        }));
        $found = [];
        [$namespace, $depth] = ['', 0];
        // The classes around: the name, whether Xdebug does not know it, and how deep its brace is.
        $classes = [];
        $names = [\T_STRING, \T_NAME_QUALIFIED];
        $kinds = [\T_CLASS, \T_TRAIT, \T_INTERFACE, \defined('T_ENUM') ? \T_ENUM : -1];
        foreach ($tokens as $at => $token) {
            [$kind, $next, $before] = [$token[0], $tokens[$at + 1] ?? '', $tokens[$at - 1] ?? ''];
            if ($kind === '{' || $kind === \T_CURLY_OPEN || $kind === \T_DOLLAR_OPEN_CURLY_BRACES) {
                $depth++;
            } elseif ($kind === '}') {
                $depth--;
                if ($classes && \end($classes)[2] === $depth) {
                    \array_pop($classes);
                }
            } elseif ($kind === \T_NAMESPACE) {
                $namespace = \is_array($next) && \in_array($next[0], $names, true) ? $next[1] . '\\' : '';
            } elseif (\in_array($kind, $kinds, true) && (!\is_array($before) || $before[0] !== \T_DOUBLE_COLON)) {
                $isNamed = \is_array($next) && $next[0] === \T_STRING;
                $classes[] = [$isNamed ? $namespace . $next[1] : 'class@anonymous', !$isNamed || $kind === \T_TRAIT, $depth];
                $found[] = [\end($classes)[0], '', $token[2], $token[2], \end($classes)[1]];
            } elseif ($kind === \T_FUNCTION && (!\is_array($before) || $before[0] !== \T_USE)) {
                $own = $next === '&' || \is_array($next) && $next[1] === '&' ? $tokens[$at + 2] ?? '' : $next;
                if (\is_array($own) && $own[1] !== '(') {
                    [$class, $isOpen] = \end($classes) ?: [null, false];
                    for ($body = $at; isset($tokens[$body]) && $tokens[$body] !== '{' && $tokens[$body] !== ';'; $body++) {
                    }
                    if (($tokens[$body] ?? '') !== '{') {
                        continue;
                    }
                    // Code around the function may be on its first line.
                    $first = $tokens[$body + 1] ?? null;
                    $line = \is_array($first) ? $first[2] : $own[2];
                    $found[] = [$class, $class === null ? $namespace . $own[1] : $own[1], $line, $own[2], $isOpen];
                }
            }
        }
        return $found;
    }

    /** The sources below folders, the nearest first. */
    private static function sources($folders)
    {
        [$found, $read, $seen] = [[], 0, []];
        while ($folders && \count($found) < self::FILES && $read < self::ENTRIES) {
            $folder = (string) \realpath(\array_shift($folders));
            if ($folder === '' || isset($seen[$folder])) {
                continue;
            }
            $seen[$folder] = true;
            foreach (@\scandir($folder) ?: [] as $name) {
                $read++;
                $path = "$folder/$name";
                if ($name[0] === '.' || \is_link($path)) {
                    continue;
                }
                if (\is_dir($path) && !\in_array($name, self::LIBRARIES, true)) {
                    $folders[] = $path;
                } elseif (\substr($name, -4) === '.php') {
                    $found[] = $path;
                }
            }
        }
        return $found;
    }

    /**
     * Which of these functions, as a stack names them, are not the program's: `function` and `method` are PHP's own,
     * `magic` is a method that does not exist, for which PHP calls `__call`; nothing for the program's.
     */
    public static function native($names)
    {
        return \array_map(function ($name) {
            // The call may stand after the name: `call_user_func:{/src/cart.php:12}`.
            [$class, $function] = self::parts(\explode(':{', $name)[0]);
            try {
                $known = $class === null ? new \ReflectionFunction($function) : new \ReflectionMethod($class, $function);
                return $known->isInternal() ? ($class === null ? 'function' : 'method') : '';
            } catch (\ReflectionException $unknown) {
                return $class !== null && (\method_exists($class, '__call') || \method_exists($class, '__callStatic')) ? 'magic' : '';
            }
        }, $names);
    }

    /** The class by which Xdebug knows the call of a method; none for what it does not know, or stops at more than once. */
    public static function classOfCall($self, $class, $function)
    {
        $known = $self === null ? $class : \get_class($self);
        $isKnown = \strpos($known, '@anonymous') === false && !(new \ReflectionMethod($class, $function))->isGenerator();
        return $isKnown ? $known : null;
    }

    private static function parts($name)
    {
        $parts = \preg_split('/->|::|\.|#/', $name);
        $function = \array_pop($parts);
        return [$parts ? \ltrim(\implode('\\', $parts), '\\') : null, $function];
    }

    private static function isOf($known, $class)
    {
        $short = \substr(\strrchr('\\' . $known, '\\'), 1);
        return $class === null || \strcasecmp($known, $class) === 0 || \strcasecmp($short, $class) === 0;
    }

    private static function place($class, $function)
    {
        $file = (string) $function->getFileName();
        $line = $function->getStartLine();
        return ['class' => $class, 'name' => $function->getName(), 'file' => $file, 'line' => self::firstLine($file, $line), 'byLine' => $class !== null && !self::isOfTrait($class, $function)];
    }

    /** Whether a class has a method from a trait that it uses. */
    private static function isOfTrait($class, $method)
    {
        $around = new \ReflectionClass($class);
        $line = $method->getStartLine();
        return !$around->isAnonymous() && ($method->getFileName() !== $around->getFileName() || $line < $around->getStartLine() || $line > $around->getEndLine());
    }

    /** The line where the code of a function begins that begins on a line: Xdebug looks for code only near a line. */
    private static function firstLine($file, $line)
    {
        if (!isset(self::$files[$file])) {
            self::$files[$file] = [];
            $text = \function_exists('token_get_all') ? @\file_get_contents($file) : false;
            foreach ($text === false ? [] : self::declared($text) as [, $own, $first, $name]) {
                self::$files[$file] += $own === '' ? [] : [$name => $first];
            }
        }
        return self::$files[$file][$line] ?? $line;
    }
}
