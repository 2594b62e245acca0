/** kubectl, unmodified: its output is checked on both clusters. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findClientBinary } from '@reeve/client-binaries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ClientSession } from './support/client-session.ts'
import { configMapManifest, webManifest } from './support/manifests.ts'

const kubectl = await findClientBinary('kubectl')

describe.skipIf(kubectl === undefined)('kubectl (skipped without kubectl)', () => {
  let session: ClientSession

  beforeAll(async () => {
    session = await ClientSession.open()
  })
  afterAll(() => session?.close())

  /** Arguments are separated by spaces; `input` is the input of `-f -`. */
  const k = (command: string, input?: string) => session.run(kubectl ?? '', command.split(' '), input)
  const attempt = (command: string, input?: string) => session.attempt(kubectl ?? '', command.split(' '), input)

  describe.concurrent('get', () => {
    beforeAll(async () => {
      await k('apply -f -', webManifest('shown'))
      await k('rollout status deployment/shown --timeout=60s')
    })

    test('shows the columns of a kind', async () => {
      const [header, row] = (await k('get deployment shown')).split('\n')
      expect(header).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$/)
      expect(row).toMatch(/^shown +2\/2 +2 +2 +\d+s$/)
    })

    test('shows more columns with -o wide', async () => {
      const [header, ...rows] = (await k('get pods -l app=shown -o wide')).trimEnd().split('\n')
      expect(header).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES$/)
      expect(rows).toHaveLength(2)
      for (const row of rows) {
        expect(row).toMatch(/^shown-\w+-\w+ +1\/1 +Running +0 +\d+s +[\d.]+ +node-\d +<none> +<none>$/)
      }
      expect((await k('get deployment shown -o wide')).split('\n')[1]).toMatch(/ main +nginx:1.27 +app=shown$/)
    })

    test('prints whole objects as YAML', async () => {
      expect(parse(await k('get service shown -o yaml'))).toMatchObject({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'shown', namespace: session.namespace, uid: expect.any(String) },
        spec: {
          type: 'ClusterIP',
          clusterIP: expect.any(String),
          sessionAffinity: 'None',
          ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
        },
      })
    })

    test('prints lists of several kinds as JSON', async () => {
      const list = JSON.parse(await k('get deployment,service -l app=shown -o json'))
      expect(list).toMatchObject({ apiVersion: 'v1', kind: 'List', items: [{ kind: 'Deployment' }] })
    })

    test('prints single fields with -o jsonpath and -o custom-columns', async () => {
      expect(await k('get deployment shown -o jsonpath={.spec.template.spec.containers[0].image}')).toBe('nginx:1.27')
      expect(await k('get deployment shown -o custom-columns=N:.metadata.name,R:.status.readyReplicas')).toMatch(
        /^N +R\nshown +2\n$/,
      )
    })

    test('reports objects and kinds that do not exist', async () => {
      expect(await attempt('get pod nobody')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'Error from server (NotFound): pods "nobody" not found\n',
      })
      expect(await attempt('get nonsense')).toMatchObject({
        code: 1,
        stderr: 'error: the server doesn\'t have a resource type "nonsense"\n',
      })
    })

    test('follows changes with -w', async ({ expect }) => {
      await k('create configmap followed --from-literal=a=1')
      await using watcher = session.follow(kubectl ?? '', ['get', 'configmap', 'followed', '-w'])
      await expect.poll(() => watcher.output, { timeout: 20_000 }).toMatch(/NAME +DATA +AGE\nfollowed +1 +\d+s\n/)
      await k('patch configmap followed -p {"data":{"b":"2"}}')
      await expect.poll(() => watcher.output, { timeout: 20_000 }).toMatch(/\nfollowed +2 +\d+s\n/)
    })

    test('follows changes as events with --output-watch-events', async ({ expect }) => {
      await using watcher = session.follow(
        kubectl ?? '',
        'get secrets -w --output-watch-events -l watched=yes'.split(' '),
      )
      // An empty list prints nothing, so writes are repeated until the watch is open.
      await expect
        .poll(
          async () => {
            await attempt('delete secret watched --ignore-not-found')
            await k(
              'create -f -',
              '{apiVersion: v1, kind: Secret, metadata: {name: watched, labels: {watched: "yes"}}}',
            )
            return watcher.output
          },
          { timeout: 20_000 },
        )
        .toMatch(/^EVENT +NAME +TYPE +DATA +AGE\nADDED +watched +Opaque +0 +\d+s\n/)
      await k('delete secret watched')
      await expect.poll(() => watcher.output, { timeout: 20_000 }).toMatch(/\nDELETED +watched +Opaque +0 +\d+s\n/)
    })

    test('describes an object with its events', async () => {
      const text = await k('describe deployment shown')
      expect(text).toMatch(/^Name: +shown\n/)
      expect(text).toMatch(/\nReplicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable\n/)
      expect(text).toMatch(/\n {2}Available +True +MinimumReplicasAvailable\n/)
      expect(text).toMatch(/\nNewReplicaSet: +shown-\w+ \(2\/2 replicas created\)\n/)
      expect(text).toMatch(
        /Normal +ScalingReplicaSet +\S+ +deployment-controller +Scaled up replica set shown-\w+ from 0 to 2/,
      )
      expect(await k('describe service shown')).toMatch(/\nEndpoints: +[\d.]+:80,[\d.]+:80\n/)
      expect(await k('describe node node-1')).toMatch(/\n {2}Ready +True /)
    })
  })

  describe.concurrent('writes', () => {
    test('applies, and applies again without a change', async () => {
      const created = await k('apply -f -', webManifest('applied', 1))
      expect(created).toBe('deployment.apps/applied created\nservice/applied created\n')
      const again = await k('apply -f -', webManifest('applied', 1))
      expect(again).toBe('deployment.apps/applied unchanged\nservice/applied unchanged\n')
      const changed = await k('apply -f -', webManifest('applied', 1).replace('nginx:1.27', 'nginx:1.28'))
      expect(changed).toBe('deployment.apps/applied configured\nservice/applied unchanged\n')
    })

    test('removes what a manifest no longer contains', async () => {
      const manifest = configMapManifest('shrinking', 'x')
      await k('apply -f -', `${manifest}  other: z\n`)
      await k('apply -f -', manifest)
      expect(await k('get configmap shrinking -o jsonpath={.data}')).toBe('{"key":"x"}')
    })

    test('rejects a field that does not exist', async () => {
      const wrong = `${configMapManifest('wrong', 'x')}colour: red\n`
      expect(await attempt('apply -f -', wrong)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('strict decoding error: unknown field "colour"'),
      })
    })

    test('applies on the server and reports conflicts', async () => {
      expect(await k('apply --server-side -f -', configMapManifest('shared', 'a'))).toBe(
        'configmap/shared serverside-applied\n',
      )
      await k('apply --server-side --field-manager=other --force-conflicts -f -', configMapManifest('shared', 'b'))
      const { code, stderr } = await attempt('apply --server-side -f -', configMapManifest('shared', 'c'))
      expect(code).toBe(1)
      expect(stderr).toContain('Apply failed with 1 conflict: conflict with "other": .data.key')
      expect(await k('get configmap shared -o jsonpath={.data.key}')).toBe('b')
    })

    test('prints the changes of an apply', async () => {
      await k('apply -f -', configMapManifest('compared', 'before'))
      expect(await attempt('diff -f -', configMapManifest('compared', 'before'))).toMatchObject({ code: 0, stdout: '' })
      const client = await attempt('diff -f -', configMapManifest('compared', 'after'))
      expect(client).toMatchObject({ code: 1, stdout: expect.stringMatching(/- {2}key: before\n\+ {2}key: after\n/) })
      const server = await attempt('diff --server-side --force-conflicts -f -', configMapManifest('compared', 'after'))
      expect(server).toMatchObject({ code: 1, stdout: expect.stringMatching(/- {2}key: before\n\+ {2}key: after\n/) })
      expect(await k('get configmap compared -o jsonpath={.data.key}')).toBe('before')
    })

    test('creates each kind that has its own command', async () => {
      const commands = [
        ['configmap made --from-literal=a=1', 'configmap/made created'],
        ['secret generic made --from-literal=a=1', 'secret/made created'],
        ['serviceaccount made', 'serviceaccount/made created'],
        ['deployment made --image=nginx --replicas=0', 'deployment.apps/made created'],
        ['service clusterip made --tcp=80:8080', 'service/made created'],
        ['job made --image=busybox', 'job.batch/made created'],
        ['cronjob made --image=busybox --schedule=0|0|1|1|*', 'cronjob.batch/made created'],
        ['role made --verb=get --resource=pods', 'role.rbac.authorization.k8s.io/made created'],
        ['rolebinding made --role=made --user=bob', 'rolebinding.rbac.authorization.k8s.io/made created'],
        ['ingress made --rule=example.com/=made:80', 'ingress.networking.k8s.io/made created'],
        // Of a kind that no other test creates: those would have to wait until the quota is counted.
        ['quota made --hard=replicationcontrollers=1', 'resourcequota/made created'],
        ['poddisruptionbudget made --selector=app=x --min-available=1', 'poddisruptionbudget.policy/made created'],
      ] as const
      const outputs = commands.map(([command]) => {
        const args = ['create', ...command.split(' ').map((word) => word.replaceAll('|', ' '))]
        return session.run(kubectl ?? '', args)
      })
      expect(await Promise.all(outputs)).toEqual(commands.map(([, said]) => `${said}\n`))
      expect(await attempt('create configmap made')).toMatchObject({
        code: 1,
        stderr: 'error: failed to create configmap: configmaps "made" already exists\n',
      })
      await k('delete quota made')
    })

    test('validates a creation with a dry run', async () => {
      expect(await k('create configmap tried --dry-run=server')).toBe('configmap/tried created (server dry run)\n')
      expect((await attempt('get configmap tried')).code).toBe(1)
    })

    test('adds and removes labels and annotations', async () => {
      await k('create configmap marked')
      expect(await k('label configmap marked tier=front')).toBe('configmap/marked labeled\n')
      expect(await k('annotate configmap marked note=x')).toBe('configmap/marked annotated\n')
      expect((await attempt('label configmap marked tier=back')).stderr).toContain('already has a value (front)')
      expect(await k('get configmap marked --show-labels --no-headers')).toMatch(/^marked +0 +\d+s +tier=front\n$/)
      expect(await k('get configmap -l tier=front -o name')).toBe('configmap/marked\n')
      expect(await k('label configmap marked tier-')).toBe('configmap/marked unlabeled\n')
      await k('annotate configmap marked note-')
      expect(await k('get configmap marked -o jsonpath={.metadata.labels}{.metadata.annotations}')).toBe('')
    })

    test('supports all three patch types', async () => {
      await k('apply -f -', webManifest('patched', 1))
      const strategic = '{"spec":{"template":{"spec":{"containers":[{"name":"main","tty":true}]}}}}'
      expect(await k(`patch deployment patched -p ${strategic}`)).toBe('deployment.apps/patched patched\n')
      const main = 'get deployment patched -o jsonpath={.spec.template.spec.containers[0]'
      expect(await k(`${main}.image}`)).toBe('nginx:1.27')
      const failing = 'patch deployment patched --type=json -p [{"op":"test","path":"/spec/replicas","value":7}]'
      expect(await attempt(failing)).toMatchObject({ code: 1, stderr: expect.stringContaining('is invalid') })
      await k('patch deployment patched --type=json -p [{"op":"add","path":"/spec/minReadySeconds","value":1}]')
      await k('patch deployment patched --type=merge -p {"spec":{"paused":true}}')
      expect(await k('get deployment patched -o jsonpath={.spec.minReadySeconds},{.spec.paused}')).toBe('1,true')
      expect(await k('patch deployment patched -p {"spec":{"paused":true}}')).toBe(
        'deployment.apps/patched patched (no change)\n',
      )
    })

    test('writes only the status through --subresource', async () => {
      await k('create ingress balanced --rule=example.com/=web:80')
      const patch = '{"metadata":{"labels":{"not":"this"}},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}'
      await k(`patch ingress balanced --subresource=status -p ${patch}`)
      expect(await k('get ingress balanced --no-headers')).toMatch(
        /^balanced +<none> +example.com +192.0.2.1 +80 +\d+s\n$/,
      )
    })
  })

  describe.concurrent('workloads', () => {
    test('scales, and waits for the rollout', async () => {
      await k('apply -f -', webManifest('scaled', 1))
      expect(await k('rollout status deployment/scaled --timeout=60s')).toContain('successfully rolled out')
      expect(await k('scale deployment scaled --replicas=3')).toBe('deployment.apps/scaled scaled\n')
      expect(await k('wait deployment/scaled --for=jsonpath={.status.readyReplicas}=3 --timeout=60s')).toBe(
        'deployment.apps/scaled condition met\n',
      )
      expect((await attempt('scale deployment scaled --current-replicas=7 --replicas=1')).stderr).toContain(
        'Expected replicas to be 7, was 3',
      )
    })

    test('rolls out a new version and rolls it back', async () => {
      await k('apply -f -', webManifest('rolled', 1))
      await k('rollout status deployment/rolled --timeout=60s')
      expect(await k('set image deployment/rolled main=nginx:1.28')).toBe('deployment.apps/rolled image updated\n')
      await k('rollout status deployment/rolled --timeout=60s')
      expect(await k('rollout history deployment/rolled')).toMatch(/REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n/)
      expect(await k('rollout undo deployment/rolled')).toBe('deployment.apps/rolled rolled back\n')
      await k('rollout status deployment/rolled --timeout=60s')
      expect(await k('get deployment rolled -o jsonpath={..image}')).toBe('nginx:1.27')
      expect(await k('rollout restart deployment/rolled')).toBe('deployment.apps/rolled restarted\n')
      await k('rollout status deployment/rolled --timeout=60s')
    })

    test('waits for conditions and for deletion', async () => {
      const pod = '{apiVersion: v1, kind: Pod, metadata: {name: waited}, spec: {containers: [{name: a, image: b}]}}'
      await k('create -f -', pod)
      expect(await k('wait pod/waited --for=condition=Ready --timeout=60s')).toBe('pod/waited condition met\n')
      await k('delete pod waited --wait=false --grace-period=1')
      await k('wait pod/waited --for=delete --timeout=60s')
      expect((await attempt('get pod waited')).code).toBe(1)
      const { code, stderr } = await attempt('wait deployment/nobody --for=condition=Available --timeout=1s')
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'Error from server (NotFound): deployments.apps "nobody" not found\n',
      })
    })

    test('deletes in the foreground, in the background, or orphans dependents', async () => {
      const names = ['fore', 'back', 'orphan']
      await k('apply -f -', names.map((name) => webManifest(name, 1)).join('---\n'))
      const deployments = names.map((name) => `deployment/${name}`).join(' ')
      await k(`wait ${deployments} --for=condition=Available --timeout=60s`)
      expect(await k('delete deployment fore --cascade=foreground --timeout=60s')).toMatch(
        /^deployment.apps "fore" deleted/,
      )
      expect(await k('get pods,replicasets -l app=fore -o name')).toBe('')
      await k('delete deployment back --timeout=60s')
      await k('wait pods -l app=back --for=delete --timeout=60s')
      await k('delete deployment orphan --cascade=orphan --timeout=60s')
      expect(await k('get pods,replicasets -l app=orphan -o name')).toMatch(
        /^pod\/orphan-\S+\nreplicaset.apps\/orphan-\S+\n$/,
      )
      expect(await k('get replicasets -l app=orphan -o jsonpath={..ownerReferences}')).toBe('')
    })

    test('reads container logs', async () => {
      const pod = `
apiVersion: v1
kind: Pod
metadata: {name: talking}
spec:
  containers:
    - {name: one, image: busybox}
    - {name: two, image: busybox}
`
      await k('create -f -', pod)
      await k('wait pod/talking --for=condition=Ready --timeout=60s')
      expect((await attempt('logs talking -c one')).code).toBe(0)
      expect((await attempt('logs talking')).stderr).toContain('Defaulted container "one" out of: one, two')
      expect(await attempt('logs talking -c three')).toMatchObject({
        code: 1,
        stderr: 'error: container three is not valid for pod talking\n',
      })
    })

    test('deletes a namespace with all its content', async () => {
      const name = `${session.namespace}-doomed`
      await k(`create namespace ${name}`)
      await k(`create configmap a -n ${name}`)
      expect(await k(`delete namespace ${name} --timeout=60s`)).toBe(`namespace "${name}" deleted\n`)
      expect((await attempt(`get namespace ${name}`)).stderr).toContain(`namespaces "${name}" not found`)
    })
  })

  describe.concurrent('discovery', () => {
    test('lists the resources of a group', async () => {
      const text = await k('api-resources --api-group=apps --no-headers')
      expect(
        text
          .trimEnd()
          .split('\n')
          .map((line) => line.split(/ +/)),
      ).toEqual([
        ['controllerrevisions', 'apps/v1', 'true', 'ControllerRevision'],
        ['daemonsets', 'ds', 'apps/v1', 'true', 'DaemonSet'],
        ['deployments', 'deploy', 'apps/v1', 'true', 'Deployment'],
        ['replicasets', 'rs', 'apps/v1', 'true', 'ReplicaSet'],
        ['statefulsets', 'sts', 'apps/v1', 'true', 'StatefulSet'],
      ])
      expect(await k('api-versions')).toContain('\nnetworking.k8s.io/v1\n')
    })

    test('explains fields with their types', async () => {
      const text = await k('explain deployment.spec.strategy')
      expect(text).toMatch(/^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n/)
      expect(text).toMatch(/\n {2}rollingUpdate\t<RollingUpdateDeployment>/)
      expect(text).toMatch(/\n {2}type\t<string>/)
      expect(await k('explain pod.spec.containers --recursive')).toMatch(/\n {2}ports\t<\[\]ContainerPort>\n/)
      expect((await attempt('explain pod.nonsense')).stderr).toBe('error: field "nonsense" does not exist\n')
    })

    test('reports permissions', async ({ expect }) => {
      expect(await k('auth can-i create pods')).toBe('yes\n')
      expect(await attempt('auth can-i create pods --as=bob')).toMatchObject({ code: 1, stdout: 'no\n' })
      await k('create role reader --verb=get,list --resource=configmaps')
      await k('create rolebinding reader --role=reader --user=alice')
      await expect
        .poll(() => attempt('auth can-i list configmaps --as=alice'), { timeout: 20_000 })
        .toMatchObject({ code: 0, stdout: 'yes\n' })
      expect(await attempt('auth can-i delete configmaps --as=alice')).toMatchObject({ code: 1, stdout: 'no\n' })
      expect(await k('auth can-i --list --as=alice')).toMatch(/\nconfigmaps +\[\] +\[\] +\[get list\]\n/)
      expect(await k('auth whoami -o jsonpath={.status.userInfo.groups}')).toContain('system:masters')
    })

    test('uses a token of a service account', async () => {
      await k('create serviceaccount robot')
      const token = (await k('create token robot')).trim()
      const { server, ca } = session.cluster.connection
      await writeFile(join(session.folder, 'ca.pem'), ca)
      const elsewhere = [
        '--kubeconfig=/dev/null',
        `--server=${server}`,
        `--certificate-authority=ca.pem`,
        `--token=${token}`,
      ]
      const who = await session.run(kubectl ?? '', ['auth', 'whoami', ...elsewhere])
      expect(who).toMatch(new RegExp(`Username +system:serviceaccount:${session.namespace}:robot\n`))
      const refused = await session.attempt(kubectl ?? '', ['get', 'pods', '-n', 'default', ...elsewhere])
      expect(refused.stderr).toContain(
        `pods is forbidden: User "system:serviceaccount:${session.namespace}:robot" cannot list resource "pods"`,
      )
    })
  })

  describe.concurrent('custom resources', () => {
    test('are listed with their own columns, explained, watched and scaled', async ({ expect }) => {
      // A name that no other suite on the same cluster uses for a kind.
      const group = `${session.namespace}.example.com`
      const definition = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `contraptions.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural: 'contraptions', singular: 'contraption', kind: 'Contraption', shortNames: ['ctp'] },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              subresources: {
                status: {},
                scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
              },
              additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  description: 'A contraption.',
                  properties: {
                    spec: { type: 'object', properties: { size: { type: 'integer', description: 'How big.' } } },
                    status: { type: 'object', properties: { size: { type: 'integer' } } },
                  },
                },
              },
            },
          ],
        },
      }
      await k('apply -f -', JSON.stringify(definition))
      try {
        await k(`wait crd/contraptions.${group} --for=condition=Established --timeout=60s`)
        const contraption = (size: number) =>
          `{apiVersion: ${group}/v1, kind: Contraption, metadata: {name: w}, spec: {size: ${size}}}`
        await expect.poll(() => attempt('apply -f -', contraption(1)), { timeout: 20_000 }).toMatchObject({ code: 0 })
        await using watcher = session.follow(kubectl ?? '', ['get', 'ctp', '-w'])
        await expect.poll(() => watcher.output, { timeout: 20_000 }).toMatch(/^NAME +SIZE\nw +1\n/)
        await k('apply -f -', contraption(2))
        await expect.poll(() => watcher.output, { timeout: 20_000 }).toMatch(/\nw +2\n/)
        expect(await k('scale contraption w --replicas=3')).toContain('scaled')
        expect(await k('get contraption w -o jsonpath={.spec.size}')).toBe('3')
        await expect
          .poll(() => attempt('explain contraption.spec'), { timeout: 20_000 })
          .toMatchObject({ stdout: expect.stringMatching(/\n {2}size\t<integer>\n {4}How big\.\n/) })
      } finally {
        await k(`delete crd contraptions.${group} --timeout=60s`)
      }
    })
  })
})
