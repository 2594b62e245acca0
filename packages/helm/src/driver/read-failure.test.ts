import { describe, expect, it } from 'vitest'
import { HelmFailedError, isTransientHelmError } from '../errors.ts'
import { readFailure } from './read-failure.ts'

const failure = (stderr: string) => readFailure({ what: 'helm upgrade a/web', exitCode: 1, stderr })

describe('readFailure', () => {
  it.each([
    ['HELM_OPERATION_IN_PROGRESS', 'UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress'],
    ['HELM_RELEASE_EXISTS', 'INSTALLATION FAILED: cannot re-use a name that is still in use'],
    ['HELM_RELEASE_EXISTS', 'INSTALLATION FAILED: release name check failed: cannot reuse a name that is still in use'],
    ['HELM_RELEASE_NOT_FOUND', 'UPGRADE FAILED: "web" has no deployed releases'],
    ['HELM_RELEASE_NOT_FOUND', 'release has no 99 version'],
    ['HELM_OBJECT_NOT_OWNED', 'Secret "a" in namespace "b" exists and cannot be imported into the current release: x'],
    ['HELM_NAMESPACE_MISSING', 'INSTALLATION FAILED: create: failed to create: namespaces "nope" not found'],
    ['HELM_FORBIDDEN', 'list: failed to list: secrets is forbidden: User "x" cannot list resource "secrets"'],
    ['HELM_FORBIDDEN', 'roles "x" is forbidden: user "y" (groups=["z"]) is attempting to grant RBAC permissions'],
    ['HELM_FORBIDDEN', 'kubernetes cluster unreachable: the server has asked for the client to provide credentials'],
    [
      'HELM_CLUSTER_UNREACHABLE',
      'Kubernetes cluster unreachable: Get "https://a/version": dial tcp: connection refused',
    ],
    [
      'HELM_TIMEOUT',
      'INSTALLATION FAILED: resource Deployment/a/b not ready. status: InProgress\ncontext deadline exceeded',
    ],
    ['HELM_TIMEOUT', 'UPGRADE FAILED: post-upgrade hooks failed: timed out waiting for the condition'],
    ['HELM_CHART_NOT_FOUND', 'INSTALLATION FAILED: path "/charts/web.tgz" not found'],
    ['HELM_CHART_INVALID', 'INSTALLATION FAILED: Chart.yaml file is missing'],
    [
      'HELM_OBJECT_REFUSED',
      'resource mapping not found for name: "x" namespace: "" from "": no matches for kind "Foo"',
    ],
    ['HELM_OBJECT_REFUSED', 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1'],
    ['HELM_OBJECT_REFUSED', 'admission webhook "w.example.com" denied the request: no'],
    ['HELM_OBJECT_REFUSED', 'pods "x" is forbidden: exceeded quota: small'],
    ['HELM_FAILED', 'something that Helm never said before'],
  ])('calls it %s when helm says %j', (code, said) => {
    const error = failure(`level=WARN msg="upgrade failed" error="x"\nError: ${said}\n`)
    expect(error.code).toBe(code)
    expect(error.message).toMatch(/^helm upgrade a\/web: /)
    expect(error.message).not.toContain('level=WARN')
  })

  it('reads the paths of rejected values from messages of new and older versions of Helm', () => {
    const heading =
      "Error: UPGRADE FAILED: values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n"
    expect(
      failure(`${heading}- at '/replicas': got string, want integer\n- at '/image': missing property 'tag'\n`),
    ).toMatchObject({
      code: 'HELM_VALUES_REFUSED',
      problems: [
        { path: 'replicas', message: 'got string, want integer' },
        { path: 'image', message: "missing property 'tag'" },
      ],
    })
    expect(failure(`${heading}- (root): image is required\n- a.0.b: Invalid type. Expected: string\n`)).toMatchObject({
      problems: [
        { path: '', message: 'image is required' },
        { path: 'a.0.b', message: 'Invalid type. Expected: string' },
      ],
    })
    expect(failure(`${heading}- at '/a~1b/c~0d': wrong`)).toMatchObject({ problems: [{ path: 'a/b.c~d' }] })
  })

  it.each([
    ['execution error at (web/templates/a.yaml:20:3): no', { file: 'web/templates/a.yaml', line: 20 }],
    [
      'web/templates/a.yaml:26:13\n  executing "web/templates/a.yaml" at <.Values.a>:\n    nil pointer',
      { file: 'web/templates/a.yaml', line: 26 },
    ],
    [
      'template: web/templates/a.yaml:26:13: executing "web/templates/a.yaml" at <.Values.a>: nil',
      { file: 'web/templates/a.yaml', line: 26 },
    ],
    [
      'template: web/templates/a.yaml:3:4: executing "x" at <include "y">: error calling include: template: web/templates/_helpers.tpl:9:2: executing "y" at <z>: nil',
      { file: 'web/templates/_helpers.tpl', line: 9 },
    ],
    ['parse error at (web/templates/a.yaml:4): unclosed action', { file: 'web/templates/a.yaml', line: 4 }],
    [
      'YAML parse error on web/templates/a.yaml: error converting YAML to JSON: yaml: line 6: did not',
      { file: 'web/templates/a.yaml', line: undefined },
    ],
  ])('finds the place of %j', (said, place) => {
    expect(failure(`Error: UPGRADE FAILED: ${said}`)).toMatchObject({ code: 'HELM_TEMPLATE', ...place })
  })

  it('reads managers and fields of a conflict', () => {
    const one =
      'conflict occurred while applying object a/web apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with "boss" using apps/v1: .spec.replicas'
    expect(failure(`Error: ${one}`)).toMatchObject({
      code: 'HELM_FIELD_CONFLICT',
      managers: ['boss'],
      fields: ['spec.replicas'],
    })
    const several =
      'Apply failed with 2 conflicts: conflicts with "boss" using apps/v1:\n- .spec.replicas\n- .spec.paused\nconflict with "kubectl" using v1: .data.a'
    expect(failure(`Error: ${several}`)).toMatchObject({
      managers: ['boss', 'kubectl'],
      fields: ['spec.replicas', 'spec.paused', 'data.a'],
    })
  })

  it('reports a failure without output', () => {
    expect(failure('')).toEqual(new HelmFailedError('helm upgrade a/web failed and did not say why', 1))
  })

  it('shortens what would fill a log', () => {
    expect(failure(`Error: ${'x'.repeat(100_000)}`).message.length).toBeLessThan(3_000)
  })

  it('recognizes failures that may pass by themselves', () => {
    expect(isTransientHelmError(failure('Error: Kubernetes cluster unreachable: x'))).toBe(true)
    expect(isTransientHelmError(failure('Error: execution error at (a/b.yaml:1:1): no'))).toBe(false)
    expect(isTransientHelmError(new Error('a bug'))).toBe(false)
  })
})
