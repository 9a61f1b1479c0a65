<?php
// Where functions are.

namespace Stillframe;

final class Functions
{
    /**
     * The functions of a name that are loaded: `deposit`, `Account.deposit`, `Account::deposit`, `Account->deposit`.
     * Each is a class or none, the name of the function, its file and its first line.
     */
    public static function find($name)
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
            if (!self::isOf($known, $class) || !\method_exists($known, $function)) {
                continue;
            }
            $method = new \ReflectionMethod($known, $function);
            if ($method->isUserDefined() && \strcasecmp($method->getDeclaringClass()->getName(), $known) === 0) {
                $found[] = self::place($known, $method);
            }
        }
        return \array_values(\array_filter($found, function ($place) {
            return \strncmp($place['name'], 'Stillframe\\', 11) !== 0 && \strncmp((string) $place['class'], 'Stillframe\\', 11) !== 0;
        }));
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
        return ['class' => $class, 'name' => $function->getName(), 'file' => (string) $function->getFileName(), 'line' => $function->getStartLine()];
    }
}
