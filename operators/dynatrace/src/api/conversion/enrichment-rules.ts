/** The status of a DynaKube between v1beta4 (and v1beta3) and v1beta5: rules had a switch, the proxy had no hash. */
import { type DynaKubeV1Beta4, type DynaKubeV1Beta5, omit } from './versions.ts'

type OldStatus = NonNullable<DynaKubeV1Beta4['status']>
type Status = NonNullable<DynaKubeV1Beta5['status']>

/** To v1beta5: rules lose their switch. */
export function raiseStatus(status: OldStatus): Status {
  const rules = status.metadataEnrichment?.rules
  return {
    ...omit(status, 'metadataEnrichment'),
    ...(status.metadataEnrichment && {
      metadataEnrichment: rules ? { rules: rules.map((rule) => omit(rule, 'enabled')) } : {},
    }),
  }
}

/** From v1beta5: the switch of rules is off, because it does not exist there. */
export function lowerStatus(status: Status): OldStatus {
  const rules = status.metadataEnrichment?.rules
  return {
    ...omit(status, 'metadataEnrichment', 'proxyURLHash'),
    ...(status.metadataEnrichment && {
      metadataEnrichment: rules ? { rules: rules.map((rule) => ({ ...rule, enabled: false })) } : {},
    }),
  }
}
