<?php
// Values as text, and what is in them. No code of the program runs for that.

namespace Stillframe;

final class Values
{
    private const ITEMS = 100;
    private const DEPTH = 6;
    private const SUPERGLOBALS = ['GLOBALS', '_GET', '_POST', '_COOKIE', '_FILES', '_ENV', '_REQUEST', '_SERVER', '_SESSION', 'argv', 'argc'];
    /** A line end, and what else needs an escape in double quotes. */
    private const ESCAPES = ["\\" => '\\\\', '"' => '\\"', "\n" => '\\n', "\r" => '\\r', "\t" => '\\t', "\v" => '\\v', "\e" => '\\e', "\f" => '\\f', '$' => '\\$'];

    /** What each reference leads to: a value, and where it can be assigned to. */
    private static $held = [];
    /** By class: the properties that a class of a library declares for it. */
    private static $inherited = [];
    /** The frame that is read at the moment. */
    private static $frame = 0;

    public static function forget()
    {
        self::$held = [];
    }

    /** The value of an expression in a frame: that of a variable can be assigned to. */
    public static function done($value, $limit, $frame)
    {
        self::$frame = $frame;
        return self::show($value, $limit, Evaluation::$name, []);
    }

    /** The variables of a frame. */
    public static function locals($variables, $self, $limit, $frame)
    {
        self::$frame = $frame;
        $found = $self === null ? [] : [['name' => 'this', 'evaluateName' => '$this'] + self::show($self, $limit, null, [])];
        foreach ($variables as $name => $value) {
            if (!\in_array($name, self::SUPERGLOBALS, true)) {
                $found[] = ['name' => (string) $name, 'evaluateName' => '$' . $name] + self::show($value, $limit, $name, []);
            }
        }
        return $found;
    }

    public static function globals($limit)
    {
        $found = [];
        foreach (\array_keys($GLOBALS) as $name) {
            if (!\in_array($name, self::SUPERGLOBALS, true)) {
                $path = "\$GLOBALS['" . $name . "']";
                $found[] = ['name' => (string) $name, 'evaluateName' => $path] + self::show($GLOBALS[$name], $limit, 'GLOBALS', [$name]);
            }
        }
        foreach (\get_defined_constants(true)['user'] ?? [] as $name => $value) {
            $found[] = ['name' => $name, 'evaluateName' => $name] + self::show($value, $limit, null, []);
        }
        return $found;
    }

    public static function superglobals($limit)
    {
        $found = [];
        foreach (['_GET', '_POST', '_COOKIE', '_FILES', '_SESSION', '_SERVER'] as $name) {
            if (isset($GLOBALS[$name])) {
                $found[] = ['name' => $name, 'evaluateName' => '$' . $name] + self::show($GLOBALS[$name], $limit, 'GLOBALS', [$name]);
            }
        }
        return $found;
    }

    public static function children($reference, $start, $count, $limit)
    {
        [$value, $root, $keys, self::$frame] = self::held($reference);
        if (\is_array($value)) {
            $found = [];
            foreach (\array_slice($value, $start, $count, true) as $key => $item) {
                $below = $root === null ? null : \array_merge($keys, [$key]);
                $found[] = ['name' => self::key($key)] + self::show($item, $limit, $root, $below ?? []);
            }
            return $found;
        }
        $found = [];
        foreach (\array_slice(self::members($value), $start, $count) as [$name, $item, $class]) {
            $root = $class === null ? null : [$value, $name, $class];
            $found[] = ['name' => (string) $name] + self::show($item, $limit, $root, []);
        }
        return $found;
    }

    /** Code that assigns to a child, with `%s` for the value, and the frame that it runs in. */
    public static function assignment($reference, $name)
    {
        [$value, $root, $keys, $frame] = self::held($reference);
        $type = \get_debug_type($value);
        if (!\is_array($value)) {
            foreach (self::members($value) as [$known, , $class]) {
                if ((string) $known === $name && $class !== null) {
                    return [$frame, "\\Stillframe\\Values::assign($reference, " . \var_export($name, true) . ', null, %s)'];
                }
            }
            if (self::inner($value) !== null) {
                throw new Refused("an item of this $type cannot be assigned to");
            }
            throw new Refused("no `$name` in this $type");
        }
        foreach ($value as $key => $_) {
            if (self::key($key) !== $name && (string) $key !== $name) {
                continue;
            }
            if ($root === null) {
                throw new Refused("this array cannot be assigned to: it is the value of an expression");
            }
            $key = \var_export($key, true);
            if (\is_array($root)) {
                return [$frame, "\\Stillframe\\Values::assign($reference, null, $key, %s)"];
            }
            $path = \array_map(function ($part) {
                return '[' . \var_export($part, true) . ']';
            }, $keys);
            return [$frame, '$' . $root . \implode('', $path) . "[$key] = %s"];
        }
        throw new Refused("no `$name` in this $type");
    }

    /** Assigns to a property of an object, or to an item of an array in one, whatever its visibility is. */
    public static function assign($reference, $name, $key, $value)
    {
        [$held, $root, $keys] = self::held($reference);
        if ($name === null) {
            [$object, $name, $class] = $root;
            $keys[] = $key;
        } else {
            $object = $held;
            $members = \array_filter(self::members($object), function ($member) use ($name) {
                return (string) $member[0] === $name;
            });
            $class = \current($members)[2];
        }
        $put = function () use ($name, $keys, $value) {
            if (!$keys) {
                return $this->$name = $value;
            }
            $place = &$this->$name;
            foreach ($keys as $key) {
                $place = &$place[$key];
            }
            return $place = $value;
        };
        $isInternal = (new \ReflectionClass($class))->isInternal();
        return ($isInternal ? $put->bindTo($object) : $put->bindTo($object, $class))();
    }

    public static function message($error)
    {
        return $error instanceof \Throwable ? (string) $error->getMessage() : '';
    }

    /** A value as the debugger shows it. */
    private static function show($value, $limit, $root, $keys)
    {
        $length = null;
        if (\is_string($value)) {
            $whole = self::length($value);
            if ($whole > $limit) {
                $length = $whole;
                $value = self::head($value, $limit);
            }
            $text = self::quoted($value);
        } else {
            $text = self::render($value, $limit + 1, 0, []);
            if (self::length($text) > $limit) {
                $length = self::length($text);
                $text = self::head($text, $limit);
            }
        }
        $shown = ['value' => $text, 'type' => \get_debug_type($value), 'variablesReference' => 0];
        if ($length !== null) {
            $shown['textLength'] = $length;
        }
        $count = \is_array($value) ? \count($value) : (\is_object($value) ? \count(self::members($value)) : 0);
        if ($count > 0) {
            self::$held[] = [$value, $root, $keys, self::$frame];
            $shown['variablesReference'] = \count(self::$held);
            $isNumbered = \is_array($value) || self::inner($value) !== null;
            $shown[$isNumbered ? 'indexedVariables' : 'namedVariables'] = $count;
        }
        return $shown;
    }

    private static function held($reference)
    {
        if (!isset(self::$held[$reference - 1])) {
            throw new Refused('the value is gone');
        }
        return self::$held[$reference - 1];
    }

    /** The properties of an object: name, value, and the class that can assign to it; or what a collection holds. */
    private static function members($object)
    {
        if ($object instanceof \Closure) {
            $function = new \ReflectionFunction($object);
            $names = \array_filter(['this' => $function->getClosureThis()]) + $function->getStaticVariables();
            return \array_map(function ($name, $value) {
                return [$name, $value, null];
            }, \array_keys($names), \array_values($names));
        }
        $inner = self::inner($object);
        if ($inner !== null) {
            $found = [];
            foreach ($inner as $key => $item) {
                $found[] = [\is_int($key) ? $key : self::key($key), $item, null];
            }
            return $found;
        }
        $found = [];
        foreach (\get_mangled_object_vars($object) as $key => $value) {
            $key = (string) $key;
            // The name of an anonymous class has such a character, too.
            $end = \strrpos($key, "\0");
            $owner = $end > 0 ? \substr($key, 1, $end - 1) : '*';
            $class = $owner !== '*' ? $owner : \get_class($object);
            $found[] = [$end > 0 ? \substr($key, $end + 1) : $key, $value, $class];
        }
        return $found;
    }

    /** What a collection of PHP's own holds. */
    private static function inner($object)
    {
        if ($object instanceof \ArrayObject || $object instanceof \ArrayIterator) {
            $kind = $object instanceof \ArrayObject ? \ArrayObject::class : \ArrayIterator::class;
            return (new \ReflectionMethod($kind, 'getArrayCopy'))->invoke($object);
        }
        if ($object instanceof \WeakMap) {
            $found = [];
            foreach ($object as $key => $item) {
                $found[] = ['key' => $key, 'value' => $item];
            }
            return $found;
        }
        if ($object instanceof \WeakReference) {
            return [$object->get()];
        }
        if ($object instanceof \SplFixedArray) {
            return (new \ReflectionMethod(\SplFixedArray::class, 'toArray'))->invoke($object);
        }
        foreach ([\SplObjectStorage::class => 'storage', \SplDoublyLinkedList::class => 'dllist', \SplHeap::class => 'heap', \SplPriorityQueue::class => 'heap'] as $kind => $part) {
            if ($object instanceof $kind) {
                $all = (new \ReflectionMethod($kind, '__debugInfo'))->invoke($object);
                $found = $all["\0$kind\0$part"] ?? [];
                return $kind !== \SplObjectStorage::class ? $found : \array_map(function ($item) {
                    return $item['inf'] === null ? $item['obj'] : $item;
                }, \array_values($found));
            }
        }
        return null;
    }

    private static function render($value, $budget, $depth, $above)
    {
        if ($value === null) {
            return 'null';
        }
        if (\is_bool($value)) {
            return $value ? 'true' : 'false';
        }
        if (\is_int($value)) {
            return (string) $value;
        }
        if (\is_float($value)) {
            return \is_finite($value) ? \var_export($value, true) : (string) $value;
        }
        if (\is_string($value)) {
            return self::quoted(self::head($value, $budget));
        }
        if (\is_array($value)) {
            return self::items($value, $budget, $depth, $above);
        }
        if (!\is_object($value)) {
            return (string) @\get_resource_type($value) . ' resource';
        }
        return self::object($value, $budget, $depth, $above);
    }

    private static function items($value, $budget, $depth, $above)
    {
        if ($depth > self::DEPTH && $value) {
            return '[...]';
        }
        $isList = self::isList($value);
        return '[' . self::joined($value, \count($value), $budget, function ($key, $item, $rest) use ($isList, $depth, $above) {
            return ($isList ? '' : self::key($key) . ' => ') . self::render($item, $rest, $depth + 1, $above);
        }) . ']';
    }

    private static function object($value, $budget, $depth, $above)
    {
        $type = \get_debug_type($value);
        if ($value instanceof Text) {
            return $value->text;
        }
        if ($value instanceof \UnitEnum) {
            return $type . '::' . $value->name;
        }
        if ($value instanceof \Throwable) {
            return $type . '(' . self::quoted(self::head(self::message($value), $budget)) . ')';
        }
        if ($value instanceof \DateTimeInterface) {
            return $type . '(' . \date_format($value, 'Y-m-d H:i:s.u P') . ')';
        }
        if ($value instanceof \DateTimeZone) {
            return "$type(" . \timezone_name_get($value) . ')';
        }
        if ($value instanceof \Generator || $value instanceof \Fiber) {
            return "$type(" . self::progress($value) . ')';
        }
        if ($value instanceof \Closure) {
            $function = new \ReflectionFunction($value);
            $file = $function->getFileName();
            if ($file !== false && \substr($file, -13) === "eval()'d code") {
                return 'Closure(eval)';
            }
            return $file === false ? 'Closure(' . $function->getName() . ')' : 'Closure(' . \basename($file) . ':' . $function->getStartLine() . ')';
        }
        if (\in_array($value, $above, true) || $depth > self::DEPTH) {
            return $type . ' {...}';
        }
        $above[] = $value;
        $inner = self::inner($value);
        if ($inner !== null) {
            return "$type " . self::items($inner, $budget, $depth, $above);
        }
        $members = self::inheritedLast($value, self::members($value));
        return "$type {" . self::joined($members, \count($members), $budget, function ($_, $member, $rest) use ($depth, $above) {
            return $member[0] . ': ' . self::render($member[1], $rest, $depth + 1, $above);
        }) . '}';
    }

    /** The members, with those that a class of a library declares at the end: a test of PHPUnit has dozens. */
    private static function inheritedLast($object, $members)
    {
        $kind = \get_class($object);
        if (!isset(self::$inherited[$kind])) {
            self::$inherited[$kind] = [];
            $class = new \ReflectionClass($kind);
            while (!Functions::isOfLibrary($class) && ($class = $class->getParentClass()) !== false) {
                if (Functions::isOfLibrary($class)) {
                    foreach ($class->getProperties() as $property) {
                        self::$inherited[$kind][$property->getName()] = true;
                    }
                }
            }
        }
        $isInherited = function ($member) use ($kind) {
            return isset(self::$inherited[$kind][$member[0]]) || ($member[2] !== $kind && Functions::isOfLibrary(new \ReflectionClass($member[2])));
        };
        $inherited = \array_filter($members, $isInherited);
        return \array_merge(\array_diff_key($members, $inherited), $inherited);
    }

    /** Where a generator or fiber continues. */
    private static function progress($value)
    {
        if ($value instanceof \Generator) {
            try {
                $at = new \ReflectionGenerator($value);
            } catch (\ReflectionException $error) {
                return 'finished';
            }
            return $at->getFunction()->getName() . ' at ' . \basename($at->getExecutingFile()) . ':' . $at->getExecutingLine();
        }
        if (!$value->isSuspended()) {
            return $value->isRunning() ? 'running' : ($value->isTerminated() ? 'finished' : 'not started');
        }
        $at = new \ReflectionFiber($value);
        return 'suspended at ' . \basename((string) $at->getExecutingFile()) . ':' . $at->getExecutingLine();
    }

    /** As many as fit. */
    private static function joined($items, $size, $budget, $render)
    {
        $texts = [];
        $used = 0;
        foreach ($items as $key => $item) {
            if ($used > $budget || \count($texts) === self::ITEMS) {
                $texts[] = '... ' . ($size - \count($texts)) . ' more';
                break;
            }
            $text = $render($key, $item, \max($budget - $used, 0));
            $texts[] = $text;
            $used += \strlen($text) + 2;
        }
        return \implode(', ', $texts);
    }

    private static function key($key)
    {
        return \is_int($key) ? (string) $key : self::quoted($key);
    }

    private static function isList($value)
    {
        $next = 0;
        foreach ($value as $key => $_) {
            if ($key !== $next++) {
                return false;
            }
            if ($next > self::ITEMS) {
                break;
            }
        }
        return true;
    }

    private static function quoted($text)
    {
        $text = \strtr($text, self::ESCAPES);
        $isText = \preg_match('//u', $text) === 1;
        $text = \preg_replace_callback($isText ? '/[\x00-\x1f\x7f]/' : '/[\x00-\x1f\x7f-\xff]/', function ($found) {
            return \sprintf('\\x%02X', \ord($found[0]));
        }, $text);
        return '"' . $text . '"';
    }

    /** In characters; in bytes of a text that is not UTF-8. */
    private static function length($text)
    {
        $count = \preg_match_all('/./us', $text);
        return $count === false ? \strlen($text) : $count;
    }

    private static function head($text, $limit)
    {
        if (\strlen($text) <= $limit) {
            return $text;
        }
        $part = \substr($text, 0, $limit * 4);
        while (\preg_match('//u', $part) !== 1 && \strlen($part) > $limit * 4 - 4) {
            $part = \substr($part, 0, -1);
        }
        if (\preg_match('//u', $part) !== 1) {
            return \substr($text, 0, $limit);
        }
        return \preg_match('/^.{0,' . \min($limit, 65535) . '}/us', $part, $found) && $limit <= 65535 ? $found[0] : \implode('', \array_slice(\preg_split('//u', $part, -1, \PREG_SPLIT_NO_EMPTY), 0, $limit));
    }
}

/**
 * A value as JSON: its type, the JSON, and the value itself. JSON that would be too long, or could not say all of it,
 * is left out: a number is in its place.
 */
final class AsJson
{
    public static function of($value, $longest)
    {
        $text = self::isPlain($value, 0) ? \json_encode($value, \JSON_PRESERVE_ZERO_FRACTION | \JSON_UNESCAPED_SLASHES) : false;
        $isWhole = $text !== false && \strpos($text, '~') === false;
        $text = $isWhole ? \str_replace('\\', '~', $text) : '';
        return [\get_debug_type($value), !$isWhole ? 0 : (\strlen($text) > $longest ? \strlen($text) : $text), $value];
    }

    private static function isPlain($value, $depth)
    {
        if (\is_array($value)) {
            foreach ($value as $item) {
                if ($depth > 50 || !self::isPlain($item, $depth + 1)) {
                    return false;
                }
            }
            return true;
        }
        return $value === null || \is_scalar($value) && (!\is_float($value) || \is_finite($value));
    }
}

/** The text of a value, as a log message has it. */
final class Text
{
    public $text;

    public static function of($value)
    {
        $text = new self();
        $isPlain = \is_scalar($value) && !\is_bool($value);
        $text->text = $isPlain ? (string) $value : Values::done($value, 4000, 0)['value'];
        return $text;
    }
}
