/** @module The Dynatrace operator. */
export { convertDynaKube, convertEdgeConnect } from './api/conversion/convert.ts'
export { CRDS, crdManifests, installation } from './api/crd-manifests.ts'
export * from './api/dynakube/active-gate-facts.ts'
export { DynaKubeCrd } from './api/dynakube/dynakube-crd.ts'
export * from './api/dynakube/feature-facts.ts'
export * from './api/dynakube/names.ts'
export type { NamespaceLabels } from './api/dynakube/namespace-claims.ts'
export * from './api/dynakube/one-agent-facts.ts'
export * from './api/dynakube/proxy.ts'
export * from './api/dynakube/tenant-facts.ts'
export * from './api/dynakube/version-source.ts'
export { EdgeConnectCrd } from './api/edgeconnect/edgeconnect-crd.ts'
export * as edgeConnectFacts from './api/edgeconnect/edgeconnect-facts.ts'
export * from './api/feature-flags.ts'
export { IgnoredNamespacePatterns, type IgnoredNamespaces } from './api/ignored-namespaces.ts'
export * from './api/latest.ts'
export { MODULES_VARIABLE, type Modules, parseModules } from './api/validation/modules.ts'
export { denialText, type Lookups } from './api/validation/rule.ts'
export { type Verdict, validateDynaKube, validateEdgeConnect } from './api/validation/validate.ts'
export { certificatesController, firstCertificates } from './controllers/certificates/certificates-controller.ts'
export { ensureCertificates } from './controllers/certificates/ensure-certificates.ts'
export { CERTIFICATES_SECRET, WEBHOOK_NAME, webhookHost } from './installed-names.ts'
export {
  clusterIdOf,
  createDynatraceOperator,
  type DynatraceOperator,
  type DynatraceOperatorOptions,
  dynatraceRoles,
} from './operator.ts'
export { DYNATRACE_TOKENS } from './token-patterns.ts'
export { CONVERT_PATH, convertRoute } from './webhooks/convert.ts'
export { LABEL_NAMESPACE_PATH, labelNamespaceRoute } from './webhooks/namespaces/label-namespace.ts'
export { INJECT_PATH, injectRoute } from './webhooks/pods/inject.ts'
export { WorkloadLookup } from './webhooks/pods/workload-lookup.ts'
export { createWebhookServer, type DynatraceWebhooks, type WebhookServerSetup } from './webhooks/server.ts'
export { validationPath, validationRoutes } from './webhooks/validate.ts'
export { mutatingConfiguration, validatingConfiguration } from './webhooks/webhook-configurations.ts'
