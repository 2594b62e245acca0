/** Objects as YAML for kubectl. */
import { stringify } from 'yaml'

/**
 * Objects as documents of one file.
 *
 * *Guarantees*: texts that parsers of YAML 1.1 (kubectl has one) read as something else, such as `on`, are quoted.
 */
export function manifestYaml(objects: readonly object[]): string {
  const documents = objects.map((object) =>
    stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries: false }),
  )
  return documents.join('---\n')
}
