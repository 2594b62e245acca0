import { describe, expect, it } from 'vitest'
import type { Phase } from './api/webapp.ts'
import { derivePhase } from './phase.ts'
import { deriveStatus } from './status.ts'
import { deployment, webapp } from './testing/webapp.ts'

const phaseOf = (before: Phase | undefined, replicas: number, live?: ReturnType<typeof deployment>) =>
  derivePhase({
    webapp: webapp({ replicas }, before === undefined ? {} : { phase: before }),
    deployment: live,
    failure: undefined,
  }).phase

describe('the phase of a WebApp', () => {
  it('goes from Created through Reconciling and WaitingForPods to Ready', () => {
    expect(phaseOf('Created', 2)).toBe('Reconciling')
    expect(phaseOf('Reconciling', 2, deployment(undefined))).toBe('Reconciling')
    expect(phaseOf('Reconciling', 2, deployment(0))).toBe('WaitingForPods')
    expect(phaseOf('WaitingForPods', 2, deployment(2, { available: 1 }))).toBe('WaitingForPods')
    expect(phaseOf('WaitingForPods', 2, deployment(2, { available: 2 }))).toBe('Ready')
  })

  it('is ready with no replicas when none are desired', () => {
    expect(phaseOf('Created', 0, deployment(0))).toBe('Ready')
  })

  it('is reconciled, not scaled, when its Deployment was deleted and is created again', () => {
    expect(phaseOf('Ready', 2)).toBe('Reconciling')
    expect(phaseOf('Ready', 2, deployment(undefined))).toBe('Reconciling')
    expect(phaseOf('Reconciling', 2, deployment(1))).toBe('WaitingForPods')
  })

  it('scales until the number is reached', () => {
    expect(phaseOf('Ready', 3, deployment(1, { available: 1, observed: 0 }))).toBe('Scaling')
    expect(phaseOf('Ready', 3, deployment(1, { available: 1 }))).toBe('Scaling')
    expect(phaseOf('Scaling', 3, deployment(3, { available: 2 }))).toBe('Scaling')
    expect(phaseOf('Scaling', 3, deployment(3, { available: 3 }))).toBe('Ready')
    expect(phaseOf('Ready', 1, deployment(3, { available: 3 }))).toBe('Scaling')
  })

  it('reconciles while a new version rolls out', () => {
    expect(phaseOf('Ready', 2, deployment(2, { observed: 0 }))).toBe('Reconciling')
    expect(phaseOf('Reconciling', 2, deployment(3, { updated: 1, available: 2 }))).toBe('Reconciling')
    expect(phaseOf('Reconciling', 2, deployment(2, { available: 1 }))).toBe('WaitingForPods')
    expect(phaseOf('Reconciling', 2, deployment(2, { available: 2 }))).toBe('Ready')
  })

  it('is degraded when replicas stop serving or a roll-out is stuck', () => {
    expect(phaseOf('Ready', 2, deployment(2, { available: 1 }))).toBe('Degraded')
    expect(phaseOf('WaitingForPods', 2, deployment(2, { stuck: true }))).toBe('Degraded')
    expect(phaseOf('Degraded', 2, deployment(2, { available: 2 }))).toBe('Ready')
  })

  it('reports deletion before anything else', () => {
    const object = webapp({}, { deletionTimestamp: '2030-01-01T00:00:00Z' })
    expect(derivePhase({ webapp: object, deployment: undefined, failure: new Error('x') }).phase).toBe('Deleting')
  })
})

describe('the status of a WebApp', () => {
  const clock = { now: () => Date.UTC(2030, 0, 1) }

  it('reports numbers, selector and all conditions with the generation they are about', () => {
    const status = deriveStatus(
      { webapp: webapp({ replicas: 1 }), deployment: deployment(1, { available: 1 }), failure: undefined },
      clock,
    )
    expect(status).toMatchObject({
      phase: 'Ready',
      observedGeneration: 1,
      replicas: 1,
      availableReplicas: 1,
      selector: 'app.kubernetes.io/name=webapp,app.kubernetes.io/instance=shop',
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Ready', message: '1 replica available', observedGeneration: 1 },
        { type: 'Available', status: 'True', observedGeneration: 1 },
        { type: 'Progressing', status: 'False', reason: 'Ready' },
        { type: 'Degraded', status: 'False', reason: 'AsExpected' },
      ],
    })
  })

  it('is the same again when nothing changed, however late', () => {
    const observation = {
      webapp: webapp({ replicas: 1 }),
      deployment: deployment(1, { available: 1 }),
      failure: undefined,
    }
    const first = deriveStatus(observation, clock)
    const later = { now: () => clock.now() + 3_600_000 }
    expect(deriveStatus({ ...observation, webapp: { ...observation.webapp, status: first } }, later)).toEqual(first)
  })

  it('turns the code of a failure into the reason', () => {
    const failure = Object.assign(new Error('Service default/shop exists already'), { code: 'NOT_CONTROLLED' })
    const status = deriveStatus({ webapp: webapp({}), deployment: undefined, failure }, clock)
    expect(status.conditions?.find(({ type }) => type === 'Degraded')).toMatchObject({
      status: 'True',
      reason: 'NotControlled',
      message: 'Service default/shop exists already',
    })
  })
})
