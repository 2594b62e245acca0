import { describe, expect, it } from 'vitest'
import { fakeClusterApi } from '../admission/testing/fake-cluster-api.ts'
import { attributes, refusal, resource } from '../admission/testing/webhook-admission.ts'
import { systemClock } from '../clock.ts'
import { CustomResources } from '../crd/custom-resources.ts'
import { DEFINITIONS } from '../crd/definition.ts'
import { definition } from '../crd/testing/definitions.ts'
import type { JsonObject } from '../json.ts'
import { ResourceRegistry } from '../registry/resource-registry.ts'
import { hasRules } from './rules.ts'

const withRule = (rule: string) => {
  const spec = {
    type: 'object',
    properties: { min: { type: 'integer' }, max: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule, message: 'min must not exceed max' }],
  }
  return definition({ version: { schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } } })
}

function controller(stored: readonly JsonObject[] = []) {
  const registry = new ResourceRegistry()
  const api = fakeClusterApi({ [DEFINITIONS]: stored })
  const customResources = new CustomResources({ api, registry, clock: systemClock })
  customResources.start()
  return { api, registry, customResources }
}

const definitions = resource({
  group: 'apiextensions.k8s.io',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
})

describe('rules', () => {
  it('are detected anywhere in a schema', () => {
    const rules = { 'x-kubernetes-validations': [] }
    expect(hasRules({ properties: { a: { items: { additionalProperties: rules } } } })).toBe(true)
    expect(hasRules({ properties: { a: { items: { type: 'string' } } } })).toBe(false)
    expect(hasRules(undefined)).toBe(false)
  })

  it('that do not compile are rejected with their definition', async () => {
    const { customResources } = controller()
    const check = async (crd: JsonObject) =>
      customResources.admission.validate?.(attributes({ resource: definitions, object: crd }))
    await expect(check(withRule('self.min <= self.max'))).resolves.toBeUndefined()
    const error = await refusal(check(withRule('self.min <= self.zz')))
    expect(error).toMatchObject({ code: 422, reason: 'Invalid' })
    expect(error.message).toContain('spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule')
    expect(error.message).toContain("undefined field 'zz'")
    await customResources.stop()
  })

  it('are registered with the resource, also after a restart', async () => {
    const { registry, customResources } = controller([withRule('self.min <= self.max')])
    await customResources.idle()
    const validate = registry.lookup('example.com', 'v1', 'widgets')?.validateRules
    const messages = (object: JsonObject, errors: Parameters<NonNullable<typeof validate>>[2] = []) =>
      validate?.(object, undefined, errors).map(({ field, message }) => `${field}: ${message}`)
    expect(messages({ spec: { min: 1, max: 2 } })).toEqual([])
    expect(messages({ spec: { min: 3, max: 2 } })).toEqual([expect.stringMatching(/^spec: .*min must not exceed max$/)])
    const broken = { field: 'spec.min', reason: 'FieldValueTypeInvalid', message: 'Invalid value' } as const
    expect(messages({ spec: { min: 'x', max: 2 } }, [broken])?.[0]).toContain('some validation rules were not checked')
    await customResources.stop()
  })

  it('cost nothing where there are none', async () => {
    const { registry, customResources } = controller([definition()])
    expect(registry.lookup('example.com', 'v1', 'widgets')?.validateRules).toBeUndefined()
    await customResources.stop()
  })
})
