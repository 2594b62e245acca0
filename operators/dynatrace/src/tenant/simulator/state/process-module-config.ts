/** The configuration of code modules by process, as a tenant serves it. */

/** One setting of the code modules. */
export interface ProcessModuleProperty {
  readonly section: string
  readonly key: string
  readonly value: string
}

/** A configuration with a revision, so that a client can request a newer one. */
export interface ProcessModuleConfig {
  readonly revision: number
  readonly properties: readonly ProcessModuleProperty[]
}

const STANDARD: readonly ProcessModuleProperty[] = [
  { section: 'general', key: 'debugFlags', value: '' },
  { section: 'general', key: 'logLevel', value: 'info' },
  { section: 'agentType', key: 'java', value: 'on' },
  { section: 'agentType', key: 'nodejs', value: 'on' },
]

/** Every change makes a new revision. */
export class ProcessModuleConfigs {
  #revision = 1
  #properties = STANDARD
  readonly #ofHostGroups = new Map<string, readonly ProcessModuleProperty[]>()

  /** Replaces the properties, for one host group or for all others. */
  set(properties: readonly ProcessModuleProperty[], hostGroup = ''): void {
    this.#revision++
    if (hostGroup === '') this.#properties = [...properties]
    else this.#ofHostGroups.set(hostGroup, [...properties])
  }

  /** The properties of the sections; undefined when the client has this revision already. Revision 0 is the empty one. */
  get(knownRevision: number, sections: readonly string[], hostGroup = ''): ProcessModuleConfig | undefined {
    if (knownRevision !== 0 && knownRevision === this.#revision) return undefined
    const all = this.#ofHostGroups.get(hostGroup) ?? this.#properties
    const isAsked = ({ section }: ProcessModuleProperty) => sections.length === 0 || sections.includes(section)
    return { revision: this.#revision, properties: all.filter(isAsked) }
  }
}
