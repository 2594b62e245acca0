/** The error of an apply that would overwrite fields of other managers. */
import { StatusError } from '../status-error.ts'
import { pathsOf } from './field-set.ts'
import type { ManagerEntry } from './managed-fields.ts'
import type { Conflict } from './ownership.ts'
import { describePath } from './path-element.ts'

/** A 409 that names every conflicting field and its owner. */
export function applyConflictError(conflicts: readonly Conflict[]): StatusError {
  const found = conflicts
    .map(({ entry, fields }) => ({
      owner: describeManager(entry),
      paths: [...pathsOf(fields)].map(describePath),
    }))
    .sort((a, b) => (a.owner < b.owner ? -1 : 1))
  const causes = found.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  )
  return new StatusError(409, 'Conflict', conflictMessage(found, causes.length), { causes })
}

function conflictMessage(found: readonly { owner: string; paths: readonly string[] }[], count: number): string {
  const [first] = found
  if (count === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${first.owner}: ${first.paths[0]}`
  }
  const lines = found.flatMap(({ owner, paths }) => [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)])
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`
}

/** Update managers are shown with their version, because each version of one is a separate manager. */
function describeManager({ manager, operation, apiVersion, subresource }: ManagerEntry): string {
  const name = JSON.stringify(manager)
  const withSubresource = subresource === undefined ? name : `${name} with subresource ${JSON.stringify(subresource)}`
  return operation === 'Update' ? `${withSubresource} using ${apiVersion}` : withSubresource
}
