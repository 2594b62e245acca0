/** Finds out where in a chart a template failed. */

/** A place in a chart. */
export interface TemplatePlace {
  readonly file?: string
  readonly line?: number
}

/** Helm wraps the place of a failure into the places that led there; the innermost comes last and is the cause. */
const NESTED = /(?:^|[\s(])([^\s():"<>]+\.(?:ya?ml|tpl|txt|json)):(\d+)(?::\d+)?/gm

/** The rendered text is not YAML: the line that Helm names is one of the result, not of the template. */
const NOT_YAML = /YAML parse error on ([^\s:]+):/

/** Where the template failed, as far as Helm says. */
export function templatePlace(reason: string): TemplatePlace {
  const [, unparsable] = NOT_YAML.exec(reason) ?? []
  if (unparsable !== undefined) return { file: unparsable }
  const [, file, line] = [...reason.matchAll(NESTED)].at(-1) ?? []
  return file === undefined ? {} : { file, line: Number(line) }
}
