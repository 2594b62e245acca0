/** Small core kinds: config maps, secrets, service accounts, events, endpoints, limits and quotas. */

import { ensureObject, objectsIn, setDefault } from '../draft-fields.ts'
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { validateConfigMap, validateSecret } from './validation/configuration.ts'
import { validateEndpoints } from './validation/endpoints.ts'
import { validateEvent } from './validation/events.ts'
import { validateLimitRange, validateResourceQuota } from './validation/quotas.ts'
import { validateResourceQuotaStatus } from './validation/reported-status.ts'
import { secretWarnings } from './warnings.ts'

/** The strategy of the kind ConfigMap. */
export const configMapStrategy: KindStrategy = {
  validate: validateConfigMap,
}

/** The strategy of the kind Secret. */
export const secretStrategy: KindStrategy = {
  default(object) {
    setDefault(object, 'type', 'Opaque')
    if (!isJsonObject(object.stringData)) return
    // stringData is write-only: it is merged into data and never stored.
    const data = ensureObject(object, 'data')
    for (const [key, value] of Object.entries(object.stringData)) {
      data[key] = Buffer.from(String(value)).toString('base64')
    }
    delete object.stringData
  },
  validate: validateSecret,
  warnings: secretWarnings,
}

/** The strategy of the kind ServiceAccount. */
export const serviceAccountStrategy: KindStrategy = { returnsDeletedObject: true }

/** Two groups serve events; both use one collection, in the core form. */
export const eventStrategy: KindStrategy = { createOnUpdate: true, validate: validateEvent }

/** The strategy of the kind Endpoints. */
export const endpointsStrategy: KindStrategy = {
  createOnUpdate: true,
  validate: validateEndpoints,
  default(object) {
    for (const subset of objectsIn(object, 'subsets')) {
      for (const port of objectsIn(subset, 'ports')) setDefault(port, 'protocol', 'TCP')
    }
  },
}

/** The strategy of the kind LimitRange. */
export const limitRangeStrategy: KindStrategy = {
  createOnUpdate: true,
  validate: validateLimitRange,
  default(object) {
    for (const item of objectsIn(objectAt(object, 'spec'), 'limits')) {
      if (item.type === 'Container') completeLimits(item)
    }
  },
}

/** Limits default to the maximum, requests to the limits or else to the minimum. */
function completeLimits(item: JsonObject): void {
  const limits = { ...objectAt(item, 'max'), ...objectAt(item, 'default') }
  const requests = { ...objectAt(item, 'min'), ...limits, ...objectAt(item, 'defaultRequest') }
  if (Object.keys(limits).length > 0) item.default = limits
  if (Object.keys(requests).length > 0) item.defaultRequest = requests
}

/** The strategy of the kind ResourceQuota. */
export const resourceQuotaStrategy: KindStrategy = {
  returnsDeletedObject: true,
  validate: validateResourceQuota,
  validateStatus: validateResourceQuotaStatus,
}
