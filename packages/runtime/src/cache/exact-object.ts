/** Objects that take no more memory than their properties need. */

/** Objects with more properties are made as usual. */
const MAX_PROPERTIES = 16

/**
 * V8 makes room for four properties in `{}` and in what a rest pattern returns, and stores further ones in a second object
 * with room to grow. For the objects of a constructor it makes room for as many as the first of them get: with one
 * constructor for each number of properties, none is left over. The prototype is that of `{}`.
 */
const CONSTRUCTORS: readonly (new () => Record<string, unknown>)[] = Array.from({ length: MAX_PROPERTIES + 1 }, () => {
  function Exact() {
    // Whoever makes the object sets its properties.
  }
  Exact.prototype = Object.prototype
  return Exact as unknown as new () => Record<string, unknown> // functions cannot be declared as constructors
})

/** An empty plain object, which will get `count` properties. */
export function exactObject(count: number): Record<string, unknown> {
  const Exact = CONSTRUCTORS[count]
  return Exact === undefined ? {} : new Exact()
}

/** A copy of an object without one of its fields. */
export function withoutField<T extends object, K extends keyof T & string>(object: T, name: K): Omit<T, K> {
  const keys = Object.keys(object)
  const copy = exactObject(keys.length - (name in object ? 1 : 0))
  for (const key of keys) {
    if (key !== name) setField(copy, key, object[key as keyof T])
  }
  return copy as Omit<T, K> // all keys but one
}

/** Sets a field whatever its name: assigning to `__proto__` would change the prototype instead. */
export function setField(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}
