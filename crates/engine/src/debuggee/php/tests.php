<?php
// What a test runner compares.

namespace Stillframe;

final class Tests
{
    // Parameters of assertions with the expected and the actual value, and what is asserted of them.
    private const PARAMETERS = [
        ['expected', 'actual', '=='], ['needle', 'haystack', 'contains'], ['expectedCount', 'haystack', 'count'],
        ['key', 'array', 'has key'], ['pattern', 'string', 'matches'],
    ];
    // Assertions of the first of these that assert something else.
    private const OPERATORS = [
        'assertSame' => '===', 'assertGreaterThan' => '>', 'assertGreaterThanOrEqual' => '>=', 'assertLessThan' => '<',
        'assertLessThanOrEqual' => '<=', 'assertInstanceOf' => 'instanceof', 'assertNotEquals' => '!=',
        'assertNotSame' => '!==', 'assertNotInstanceOf' => 'not instanceof', 'assertNotContains' => 'not contains',
        'assertStringNotContainsString' => 'not contains', 'assertArrayNotHasKey' => 'not has key',
    ];

    /** The two sides of an assertion, in the variables of one of the runner's functions; none elsewhere. */
    public static function thrown($function, $variables, $limit)
    {
        $failure = $variables['comparisonFailure'] ?? null;
        if (\is_object($failure) && \method_exists($failure, 'getExpected')) {
            return self::sides($failure->getActual(), $failure->getExpected(), self::operator(), $limit);
        }
        foreach (\str_starts_with($function, 'assert') ? self::PARAMETERS : [] as [$expected, $actual, $operator]) {
            if (\array_key_exists($expected, $variables) && \array_key_exists($actual, $variables)) {
                $operator = self::OPERATORS[$function] ?? $operator;
                return self::sides($variables[$actual], $variables[$expected], $operator, $limit);
            }
        }
        return null;
    }

    /** That of the assertion that is being made. */
    private static function operator()
    {
        foreach (\debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS) as $call) {
            // Assertions call `assertThat`.
            if (\str_starts_with($call['function'], 'assert') && $call['function'] !== 'assertThat') {
                return self::OPERATORS[$call['function']] ?? '==';
            }
        }
        return '==';
    }

    private static function sides($actual, $expected, $operator, $limit)
    {
        return ['assertion' => ['operator' => $operator, 'left' => self::side($actual, $limit), 'right' => self::side($expected, $limit)]];
    }

    private static function side($value, $limit)
    {
        $shown = Values::done($value, $limit, 0);
        return ['text' => $shown['value'], 'type' => $shown['type'], 'cut' => isset($shown['textLength'])];
    }
}
