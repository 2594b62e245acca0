/** For every sample: what a plan says would be created is what the operator then creates. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Secrets } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type DynaKube, DynaKubes } from '../../src/api/latest.ts'
import { INSTANCE_LABEL } from '../../src/controllers/dynakube/components/injection/map-namespaces.ts'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { NAMESPACE } from '../dynakube/support/stage.ts'
import { type Everything, errorsOf, idOf, PlanStage } from './support/plan-stage.ts'

const FOLDER = fileURLToPath(new URL('../../samples/dynakube/v1beta6/', import.meta.url))

/** Under names that the stage has tenants for. */
const SAMPLES = globSync('*.yaml', { cwd: FOLDER })
  .sort()
  .flatMap((file) =>
    parseAllDocuments(readFileSync(`${FOLDER}${file}`, 'utf8')).map((one) => [file, one.toJS()] as const),
  )
  .filter((entry): entry is readonly [string, DynaKube] => entry[1]?.kind === 'DynaKube')
  .map(([file, { metadata, spec }], index) => ({ file, name: `sample-${index}`, metadata, spec }))

let plans: PlanStage

beforeAll(async () => {
  plans = await PlanStage.set(SAMPLES.map(({ name }) => name))
  const certificates = new Set(SAMPLES.flatMap(({ spec }) => spec.telemetryIngest?.tlsRefName ?? []))
  for (const name of certificates) {
    await plans.stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name },
      data: encodeSecret({ 'tls.crt': 'certificate', 'tls.key': 'key' }),
    })
  }
})
afterAll(() => plans?.[Symbol.asyncDispose]())

it('there are samples', () => {
  expect(SAMPLES.length).toBeGreaterThan(10)
})

it.each(SAMPLES)('$file ($name) has a plan that matches its rollout', async ({ name, metadata, spec: given }) => {
  const { apiUrl: _url, tokens: _tokens, trustedCAs: _authorities, ...spec } = given
  const annotations = metadata.annotations ?? {}
  const before = await plans.everything()
  const plan = await plans.plan([plans.dynakube(name, spec, annotations)])
  expect(errorsOf(plan)).toEqual([])
  expect(await plans.everything()).toEqual(before)

  await plans.apply(name, spec, annotations)
  const after = await plans.everything()
  const creations = plan.changes.filter(({ action }) => action === 'create')
  expect(creations.map(idOf).sort()).toEqual([...after.keys()].filter((id) => !before.has(id)).sort())
  const real = await plans.blotted(after, name)
  for (const { manifest, ...change } of creations.filter(({ kind }) => kind !== 'DynaKube')) {
    expect([idOf(change), manifest]).toEqual([idOf(change), real(after.get(idOf(change)))])
  }
  expect((await plans.plan([plans.dynakube(name, spec, annotations)])).changes).toEqual([])
  await remove(name, before)
})

/** Deletes a DynaKube and waits until nothing of it is left, as the next sample would meet it. */
async function remove(name: string, before: Everything): Promise<void> {
  const { stage } = plans
  await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name })
  await stage.until(async () => {
    const left = [...(await plans.everything())]
    const isInjected = left.some(([, { metadata }]) => metadata.labels?.[INSTANCE_LABEL] === name)
    return !isInjected && left.every(([id]) => before.has(id))
  })
}
