/** Notices code that changes the prototypes that all objects share. */

const SHARED: readonly (readonly [string, object])[] = [
  ['Object.prototype', Object.prototype],
  ['Array.prototype', Array.prototype],
  ['Function.prototype', Function.prototype],
  ['String.prototype', String.prototype],
]

/** Records the prototypes when it is created. */
export class PrototypeGuard {
  readonly #known = SHARED.map(([name, prototype]) => {
    const members = Reflect.ownKeys(prototype).map(
      (key) => [key, Reflect.getOwnPropertyDescriptor(prototype, key)] as const,
    )
    return { name, prototype, members, byKey: new Map(members) }
  })

  /** Names a member that was added, changed or removed, after putting all of them right. */
  restore(): string | undefined {
    let changed: string | undefined
    for (const { name, prototype, members, byKey } of this.#known) {
      const keys = Reflect.ownKeys(prototype)
      if (keys.length !== members.length) {
        for (const key of keys) {
          if (byKey.has(key)) continue
          changed ??= `${name}.${String(key)}`
          Reflect.deleteProperty(prototype, key)
        }
      }
      for (const [key, descriptor] of members) {
        if (Reflect.getOwnPropertyDescriptor(prototype, key)?.value === descriptor?.value) continue
        changed ??= `${name}.${String(key)}`
        if (descriptor !== undefined) Reflect.defineProperty(prototype, key, descriptor)
      }
    }
    return changed
  }
}
