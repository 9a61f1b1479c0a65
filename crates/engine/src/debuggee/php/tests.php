<?php
// What a test runner compares.

namespace Stillframe;

final class Tests
{
    /** The two sides of an assertion, in the variables of one of the runner's functions; none elsewhere. */
    public static function thrown($variables, $limit)
    {
        $failure = $variables['comparisonFailure'] ?? null;
        if (\is_object($failure) && \method_exists($failure, 'getExpected')) {
            return self::sides($failure->getActual(), $failure->getExpected(), $limit);
        }
        if (\array_key_exists('expected', $variables) && \array_key_exists('actual', $variables)) {
            return self::sides($variables['actual'], $variables['expected'], $limit);
        }
        return null;
    }

    private static function sides($actual, $expected, $limit)
    {
        return ['assertion' => ['operator' => '==', 'left' => self::side($actual, $limit), 'right' => self::side($expected, $limit)]];
    }

    private static function side($value, $limit)
    {
        $shown = Values::done($value, $limit, 0);
        return ['text' => $shown['value'], 'type' => $shown['type'], 'cut' => isset($shown['textLength'])];
    }
}
