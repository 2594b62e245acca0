/** JSON patch (RFC 6902), without modifying the document it is applied to. */
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '../json.ts'
import { isDeeperThan, ownField, setField } from '../schema/json-value.ts'
import { maxDepth } from '../schema/parse.ts'
import { StatusError } from '../status-error.ts'
import { undecodable } from './undecodable.ts'

/** A longer patch is rejected. */
const maxJsonPatchOperations = 10_000

/** Copies of copies grow exponentially; together they may not exceed the size limit of a request body. */
const maxCopiedBytes = 3 * 1024 * 1024

/**
 * Applies the operations in order, all or none. As on the API server, negative list indices count from the end, and
 * `replace` sets a missing field.
 *
 * *Guarantees*: inputs are not modified, and unchanged parts are shared with `document`.
 *
 * *Errors*: StatusError 413 when there are too many operations, 400 when the patch is not a list of operations, 422
 * when one fails: its path is missing, or its `test` does not match; also when the result is nested too deep.
 */
export function applyJsonPatch(document: JsonObject, operations: JsonValue): JsonObject {
  if (!Array.isArray(operations)) throw undecodable(operations, '[]handlers.jsonPatchOp')
  if (operations.length > maxJsonPatchOperations) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${operations.length}`,
    )
  }
  const editor = new Editor(document)
  try {
    for (const operation of operations) {
      if (!isJsonObject(operation)) throw undecodable(operation, 'handlers.jsonPatchOp')
      editor.perform(operation)
    }
  } catch (error) {
    // Copies into copies can be deeper than the stack.
    throw error instanceof RangeError ? unprocessable() : error
  }
  const { root } = editor
  if (!isJsonObject(root) || isDeeperThan(root, maxDepth)) throw unprocessable()
  return root
}

/** The API server does not report which operation failed; clients match on this text. */
function unprocessable(): StatusError {
  return new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
}

type Container = JsonObject | JsonValue[]

/** The document while a patch is applied. Containers are copied once, before their first change. */
class Editor {
  root: JsonValue
  readonly #copied = new WeakSet<Container>()
  #copiedBytes = 0

  constructor(root: JsonValue) {
    this.root = root
  }

  perform(operation: JsonObject): void {
    const path = pointerOf(operation, 'path')
    switch (operation.op) {
      case 'add':
        this.#add(path, operation.value ?? null)
        break
      case 'remove':
        this.#remove(path)
        break
      case 'replace':
        this.#write(path, operation.value ?? null)
        break
      case 'move': {
        const from = pointerOf(operation, 'from')
        // A value cannot be moved into itself.
        if (path.length > from.length && from.every((token, index) => token === path[index])) throw unprocessable()
        this.#add(path, this.#remove(from))
        break
      }
      case 'copy':
        this.#add(path, this.#clone(this.#readField(pointerOf(operation, 'from'))))
        break
      case 'test':
        this.#test(path, operation.value ?? null)
        break
      default:
        throw unprocessable()
    }
  }

  #test(path: readonly string[], expected: JsonValue): void {
    let actual: JsonValue
    try {
      actual = this.#read(path)
    } catch (error) {
      // A missing value equals null, so that a patch can require absence.
      if (error instanceof StatusError && expected === null) return
      throw error
    }
    if (!jsonEqual(actual, expected)) throw unprocessable()
  }

  #read(path: readonly string[]): JsonValue {
    let value = this.root
    for (const token of path) value = childOf(value, token)
    return value
  }

  /** Like `#read`, but a missing field of an object is null: a copy of it becomes null. */
  #readField(path: readonly string[]): JsonValue {
    const last = path.at(-1)
    const parent = this.#read(path.slice(0, -1))
    if (last !== undefined && isJsonObject(parent)) return ownField(parent, last) ?? null
    return this.#read(path)
  }

  #add(path: readonly string[], value: JsonValue): void {
    const last = path.at(-1)
    if (last === undefined) {
      this.root = value
      return
    }
    const parent = this.#editable(path.slice(0, -1))
    if (Array.isArray(parent)) {
      parent.splice(last === '-' ? parent.length : indexOf(last, parent.length + 1), 0, value)
    } else {
      setField(parent, last, value)
    }
  }

  #write(path: readonly string[], value: JsonValue): void {
    const last = path.at(-1)
    if (last === undefined) {
      this.root = value
      return
    }
    const parent = this.#editable(path.slice(0, -1))
    if (Array.isArray(parent)) parent[indexOf(last, parent.length)] = value
    else setField(parent, last, value)
  }

  #remove(path: readonly string[]): JsonValue {
    const last = path.at(-1)
    if (last === undefined) throw unprocessable()
    const removed = this.#read(path)
    const parent = this.#editable(path.slice(0, -1))
    if (Array.isArray(parent)) parent.splice(indexOf(last, parent.length), 1)
    else delete parent[last]
    return removed
  }

  /** The container at `path`, copied together with all its ancestors so that it may be modified. */
  #editable(path: readonly string[]): Container {
    let parent = this.#own(this.root)
    this.root = parent
    for (const token of path) {
      const child = this.#own(childOf(parent, token))
      if (Array.isArray(parent)) parent[indexOf(token, parent.length)] = child
      else setField(parent, token, child)
      parent = child
    }
    return parent
  }

  #own(value: JsonValue): Container {
    if (typeof value !== 'object' || value === null) throw unprocessable()
    if (this.#copied.has(value)) return value
    const copy = Array.isArray(value) ? [...value] : { ...value }
    this.#copied.add(copy)
    return copy
  }

  /** A deep copy, so that the two places can be modified independently. */
  #clone(value: JsonValue): JsonValue {
    const text = JSON.stringify(value)
    this.#copiedBytes += text.length
    if (this.#copiedBytes > maxCopiedBytes) throw unprocessable()
    return JSON.parse(text)
  }
}

function pointerOf(operation: JsonObject, member: 'path' | 'from'): string[] {
  const pointer = operation[member]
  if (typeof pointer !== 'string') throw unprocessable()
  if (pointer === '') return []
  // Everything before the first slash is ignored, as in the API server; without any slash there is no path.
  const [, ...tokens] = pointer.split('/')
  if (tokens.length === 0) throw unprocessable()
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function childOf(parent: JsonValue, token: string): JsonValue {
  const child = Array.isArray(parent)
    ? parent[indexOf(token, parent.length)]
    : isJsonObject(parent)
      ? ownField(parent, token)
      : undefined
  if (child === undefined) throw unprocessable()
  return child
}

function indexOf(token: string, length: number): number {
  if (!/^-?\d{1,9}$/.test(token)) throw unprocessable()
  const index = Number(token)
  const position = index < 0 ? index + length : index
  if (position < 0 || position >= length) throw unprocessable()
  return position
}
