/** Computes what a patch makes of an object, for each patch type the API knows. */
import type { JsonObject, JsonValue } from '../json.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'

/** Patch types that compute a new state only from the live one. */
export type PatchType = 'json' | 'merge' | 'strategic'

/** The live object with the patch applied; unchanged parts are shared with `live`. */
export function patchDocument(type: PatchType, info: ResourceInfo, live: JsonObject, patch: JsonValue): JsonObject {
  switch (type) {
    case 'json':
      return applyJsonPatch(live, patch)
    case 'merge':
      return applyMergePatch(live, patch)
    case 'strategic':
      return applyStrategicMergePatch(info.schema, live, patch)
  }
}
