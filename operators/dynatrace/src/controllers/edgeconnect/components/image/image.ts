/** The image that an EdgeConnect runs, pinned by its digest. */
import { createRegistryClient } from '@reeve/oci'
import { type EdgeConnectComponent, viewOf } from '../../edge-connect-component.ts'
import { resolveImage } from './resolve-image.ts'

/** Keeps the image in the status; a registry is checked for a newer one periodically. */
export const image: EdgeConnectComponent = {
  name: 'image',
  async resolve(context) {
    const { clock, logger, signal, dependencies, reporter } = context
    const openRegistry = dependencies.openRegistry ?? createRegistryClient
    reporter.update({ kubeSystemUID: dependencies.clusterId })
    const version = await resolveImage(context.primary, { view: viewOf(context), clock, logger, signal, openRegistry })
    reporter.update({ version })
    return undefined
  },
  mayOwn: () => [],
}
