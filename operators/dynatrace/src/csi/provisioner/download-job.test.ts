import type { Stored } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKube } from '../../api/latest.ts'
import { jobName, renderJob } from './download-job.ts'
import { parseJobSettings } from './job-settings.ts'

const dynakube = (customPullSecret?: string): Stored<DynaKube> => ({
  apiVersion: 'dynatrace.com/v1beta6',
  kind: 'DynaKube',
  metadata: { name: 'dk', namespace: 'dynatrace', uid: '1-2-3', resourceVersion: '1', creationTimestamp: '' },
  spec: { apiUrl: 'https://abc12345.live.example.com/api', ...(customPullSecret && { customPullSecret }) },
})

function render(settings = parseJobSettings(undefined), of = dynakube()) {
  const image = 'test1.com'
  return renderJob(of, { image, folder: 'x', nodeName: 'node1', hostDataRoot: '/host/data', settings })
}

describe('a download Job', () => {
  it('has a name that depends on image and node only', () => {
    expect(jobName('test1.com', 'node1')).toBe('codemodule-download-1292563062')
    const pairs = ['a', 'b'].flatMap((image) => ['x', 'y'].map((node) => jobName(image, node)))
    expect(new Set(pairs).size).toBe(4)
  })

  it('pulls the image as the DynaKube specifies', () => {
    const { spec, ...rest } = dynakube()
    const oneAgent = { applicationMonitoring: { codeModulesImagePullPolicy: 'Always' as const } }
    const job = render(undefined, { ...rest, spec: { ...spec, oneAgent } })
    expect(job.spec?.template.spec?.containers[0]?.imagePullPolicy).toBe('Always')
  })

  it('runs the program of the image on this node, with the data directory and without a token', () => {
    const { metadata, spec } = render()
    expect(metadata.name).toBe('codemodule-download-1292563062')
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'DynaKube', name: 'dk', uid: '1-2-3', controller: true }])
    expect(metadata.annotations).toHaveProperty(['internal.operator.dynatrace.com/template-hash'])
    expect(spec).toMatchObject({ activeDeadlineSeconds: 600, ttlSecondsAfterFinished: 10 })
    expect(Object.keys(spec ?? {})).toEqual(['activeDeadlineSeconds', 'ttlSecondsAfterFinished', 'template'])
    expect(spec?.template.metadata).toEqual({
      labels: {
        'app.kubernetes.io/name': 'codemodule',
        'app.kubernetes.io/created-by': 'dk',
        'app.kubernetes.io/managed-by': 'dynatrace-operator',
        'app.kubernetes.io/version': '',
        'app.kubernetes.io/component': '',
      },
      annotations: { 'dynatrace.com/inject': 'false' },
    })
    expect(spec?.template.spec).toEqual({
      nodeName: 'node1',
      restartPolicy: 'OnFailure',
      automountServiceAccountToken: false,
      serviceAccountName: 'dynatrace-oneagent-csi-driver',
      serviceAccount: 'dynatrace-oneagent-csi-driver',
      priorityClassName: 'dynatrace-high-priority',
      tolerations: [
        { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
      ],
      volumes: [{ name: 'dynatrace-codemodules', hostPath: { path: '/host/data' } }],
      containers: [
        {
          name: 'codemodule-download',
          image: 'test1.com',
          imagePullPolicy: 'IfNotPresent',
          args: [
            '--source=/opt/dynatrace/oneagent',
            '--target=/data/codemodules/x',
            '--work=/data/work/codemodule-download-1292563062',
          ],
          volumeMounts: [{ name: 'dynatrace-codemodules', mountPath: '/data' }],
          securityContext: {
            privileged: true,
            allowPrivilegeEscalation: true,
            readOnlyRootFilesystem: true,
            runAsNonRoot: false,
            runAsUser: 0,
            seLinuxOptions: { level: 's0' },
            seccompProfile: { type: 'RuntimeDefault' },
          },
          resources: { requests: { cpu: '300m', memory: '100Mi' } },
        },
      ],
    })
  })

  it('has the pull secret of the user and no other', () => {
    expect(render().spec?.template.spec).not.toHaveProperty('imagePullSecrets')
    const { imagePullSecrets } = render(undefined, dynakube('own')).spec?.template.spec ?? {}
    expect(imagePullSecrets).toEqual([{ name: 'own' }])
  })

  it('follows the chart, which cannot replace its own labels', () => {
    const settings = parseJobSettings(
      JSON.stringify({
        labels: { team: 'a', 'app.kubernetes.io/name': 'other' },
        annotations: { note: 'b' },
        tolerations: null,
        job: { securityContext: null, resources: { limits: { memory: '1Gi' } } },
      }),
    )
    const { metadata, spec } = render(settings)
    expect(metadata.labels).toMatchObject({ team: 'a', 'app.kubernetes.io/name': 'codemodule' })
    expect(metadata.annotations).toMatchObject({ note: 'b' })
    expect(spec?.template.metadata?.annotations).toEqual({ note: 'b', 'dynatrace.com/inject': 'false' })
    expect(spec?.template.spec).toMatchObject({ tolerations: [], containers: [{ resources: { limits: {} } }] })
    expect(spec?.template.spec).not.toHaveProperty('priorityClassName')
    expect(spec?.template.spec?.containers[0]).not.toHaveProperty('securityContext')
  })

  it.each([undefined, '', '{', '[]', '{"labels": 1}'])('has the settings of a chart that says %j', (text) => {
    expect(parseJobSettings(text)).toMatchObject({ priorityClassName: 'dynatrace-high-priority' })
  })
})
