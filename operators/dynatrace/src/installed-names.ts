/** Names that the chart, the operator and the webhook server agree on. */

/** Of the Deployment, the Service, the ServiceAccount and both webhook configurations. */
export const WEBHOOK_NAME = 'dynatrace-webhook'

/** The Secret with the webhook server's certificate. */
export const CERTIFICATES_SECRET = 'dynatrace-webhook-certs'

/** The name by which the API server calls the webhook server, and which its certificate is for. */
export function webhookHost(namespace: string): string {
  return `${WEBHOOK_NAME}.${namespace}.svc`
}

/** The name of the operator: its field manager, and the source of events. */
export const FIELD_MANAGER = 'dynatrace-operator'

/** The Lease of the leader: only one replica reconciles at a time. */
export const LEASE_NAME = 'dynatrace-operator-lock'
