/** The operator as a plan runs it: in all namespaces, and without secrets of its own. */
import { defineOperator, type Operator } from '@reeve/runtime'
import { crdManifests } from '../api/crd-manifests.ts'
import type { DynaKube, EdgeConnect } from '../api/latest.ts'
import { dynaKubeController } from '../controllers/dynakube/controller.ts'
import type { DynaKubeOptions } from '../controllers/dynakube/dependencies.ts'
import { edgeConnectController } from '../controllers/edgeconnect/controller.ts'
import type { EdgeConnectOptions } from '../controllers/edgeconnect/edge-connect-component.ts'
import type { KeyPair, SelfSignedSubject } from '../controllers/generated/self-signed.ts'
import { FIELD_MANAGER } from '../installed-names.ts'
import { repeatableBytes } from './repeatable-bytes.ts'

/**
 * The operator with the controllers of both resources.
 *
 * @param options with clients that change nothing outside the cluster
 *
 * @example
 * const operator = rehearsedOperator({ ...watchedWorld(exits, watch), operator, clusterId, detectsHostAvailability })
 */
export function rehearsedOperator(
  options: DynaKubeOptions & EdgeConnectOptions,
): Operator<readonly [DynaKube, EdgeConnect]> {
  const rehearsed = {
    ...options,
    randomBytes: repeatableBytes(),
    selfSigned: placeholderCertificate,
    isRehearsal: true,
  }
  return defineOperator<readonly [DynaKube, EdgeConnect]>({
    name: FIELD_MANAGER,
    controllers: [dynaKubeController(rehearsed), edgeConnectController(rehearsed)],
    crds: crdManifests(),
  })
}

/** It is never used, and a real key takes a second. */
async function placeholderCertificate({ commonName }: SelfSignedSubject): Promise<KeyPair> {
  return { certificate: `certificate of ${commonName}`, privateKey: `key of ${commonName}` }
}
