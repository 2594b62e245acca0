/** Tables: what `kubectl get` shows, rendered by the server. */
import type { TablePrinter } from '../http/render.ts'
import { isJsonObject, objectAt } from '../json.ts'

/** Prints Name and Age. */
export const defaultPrinter: TablePrinter = {
  table(_info, objects, options) {
    return {
      kind: 'Table',
      apiVersion: `meta.k8s.io/${options.version}`,
      metadata: {},
      columnDefinitions: options.withColumns
        ? [{ name: 'Name', type: 'string', format: 'name', description: 'Name of the object', priority: 0 }]
        : [],
      rows: objects.map((object) => ({
        cells: [String(objectAt(object, 'metadata').name ?? '')],
        object: {
          kind: 'PartialObjectMetadata',
          apiVersion: `meta.k8s.io/${options.version}`,
          metadata: isJsonObject(object.metadata) ? object.metadata : {},
        },
      })),
    }
  },
}
