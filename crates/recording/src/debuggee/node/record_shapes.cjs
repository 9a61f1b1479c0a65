// What an object is, as its class and its internals say. No code of the program runs for it.
'use strict';
const { types } = require('util');

const [FUNCTION, ARRAY, MAP, SET, , INSTANCE, OPAQUE, CLASS] = [0, 1, 2, 3, 4, 5, 6, 7];

const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isArray } = Array;
const functionText = Function.prototype.toString;

// What objects of libraries have that are there to hold a value: references of Vue, and subjects of RxJS.
const HOLDERS = [['_value', '_rawValue'], ['_value', 'observers']];

/** Whether a container may have properties that its class gives it. */
function isDerived(value) {
  const prototype = getPrototypeOf(value);
  return prototype !== Array.prototype && prototype !== Map.prototype && prototype !== Set.prototype &&
    !types.isTypedArray(value);
}

/** Whether a value is a function whose properties are read without a trap. */
const isOpenFunction = (value) => typeof value === 'function' && !types.isProxy(value);

const isNative = (make) => isOpenFunction(make) && apply(functionText, make, []).endsWith('{ [native code] }');

/** What objects are. That of the classes of a program is found out once. */
class Shapes {
  // What objects with a prototype are.
  known = new WeakMap();
  // Whether prototypes are built into the language.
  builtIn = new WeakMap();
  // Whether the methods of objects with a prototype are those of the language, or recorded.
  withKnownMethods = new WeakMap();

  /** What an object inherits from; null if that is built into the language. */
  prototypeOf(value) {
    if (types.isProxy(value)) return null;
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return null;
    let isBuiltIn = this.builtIn.get(prototype);
    if (isBuiltIn === undefined) {
      const make = types.isProxy(prototype) ? undefined : getOwnPropertyDescriptor(prototype, 'constructor')?.value;
      isBuiltIn = isNative(make);
      this.builtIn.set(prototype, isBuiltIn);
    }
    return isBuiltIn ? null : prototype;
  }

  /**
   * Whether the methods of an object are those of the language, or of classes that are recorded above one of the language.
   * A function and a plain object may have any.
   */
  hasKnownMethods(object) {
    if (typeof object === 'function' || types.isProxy(object)) return false;
    const prototype = getPrototypeOf(object);
    if (prototype === null || prototype === Object.prototype) return false;
    let isIt = this.withKnownMethods.get(prototype);
    if (isIt === undefined) {
      const make = types.isProxy(prototype) ? undefined : getOwnPropertyDescriptor(prototype, 'constructor')?.value;
      if (this.isOwn(make)) isIt = this.hasKnownMethods(prototype);
      // That of all objects, of another realm, inherits from nothing.
      else isIt = isNative(make) && getPrototypeOf(prototype) !== null;
      this.withKnownMethods.set(prototype, isIt);
    }
    return isIt;
  }

  /** The function or class whose instances inherit from an object; undefined for most objects. */
  makerOf(object) {
    if (types.isProxy(object)) return undefined;
    const make = getOwnPropertyDescriptor(object, 'constructor')?.value;
    const isIt = isOpenFunction(make) && getOwnPropertyDescriptor(make, 'prototype')?.value === object;
    return isIt ? make : undefined;
  }

  /** Whether a function or class is code of the program that is recorded. */
  isOwn(make) {
    return isOpenFunction(make) && apply(functionText, make, []).includes('__$');
  }

  /** The kind of an object, the name of its class, and whether it is one that holds a value. */
  of(value) {
    if (types.isProxy(value)) return [OPAQUE, 'Proxy'];
    if (isArray(value)) return [ARRAY, this.className(value, 'Array')];
    if (types.isMap(value)) return [MAP, this.className(value, 'Map')];
    if (types.isSet(value)) return [SET, this.className(value, 'Set')];
    if (types.isTypedArray(value)) return [ARRAY, this.className(value, 'TypedArray')];
    if (types.isNativeError(value)) return [INSTANCE, this.className(value, 'Error')];
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype || types.isArgumentsObject(value)) {
      return value === globalThis || types.isModuleNamespaceObject(value) ? [OPAQUE, 'Object'] : [INSTANCE, 'Object'];
    }
    let shape = this.known.get(prototype);
    if (shape === undefined) {
      shape = this.newShape(value, prototype);
      this.known.set(prototype, shape);
    }
    return shape;
  }

  newShape(value, prototype) {
    const name = this.className(value, 'Object');
    if (types.isProxy(prototype)) return [OPAQUE, name];
    const make = getOwnPropertyDescriptor(prototype, 'constructor')?.value;
    // An object whose prototype is another plain object, or of another realm.
    if (make === undefined || name === 'Object') return [INSTANCE, name];
    if (this.isOwn(make)) return [INSTANCE, name];
    const isHolder = HOLDERS.some((properties) => properties.every((each) => getOwnPropertyDescriptor(value, each) !== undefined));
    return [isHolder ? INSTANCE : OPAQUE, name, isHolder];
  }

  className(value, otherwise) {
    for (let at = getPrototypeOf(value), depth = 0; at !== null && depth < 20; at = getPrototypeOf(at), depth += 1) {
      if (types.isProxy(at)) return otherwise;
      const make = getOwnPropertyDescriptor(at, 'constructor')?.value;
      if (isOpenFunction(make)) {
        const name = getOwnPropertyDescriptor(make, 'name')?.value;
        if (typeof name === 'string' && name !== '') return name;
      }
    }
    return otherwise;
  }
}

module.exports = { ARRAY, CLASS, FUNCTION, INSTANCE, MAP, OPAQUE, SET, Shapes, isDerived };
