/** @module Certificates of webhooks: issued, rotated and trusted, or read from files. */
export { CERTIFICATE_DEFAULTS } from '../defaults.ts'
export { CertificateManager, type CertificateManagerOptions } from './certificate-manager.ts'
export { coversHosts, isSignedBy, type ParsedCertificate, parseCertificates } from './certificate-set.ts'
export {
  CertificateHolder,
  type CertificateSource,
  firstCertificate,
  type ServingCertificate,
} from './certificate-source.ts'
export { FileCertificates, type FileCertificatesOptions } from './file-certificates.ts'
export * from './inject-ca-bundle.ts'
export * from './issue-certificate.ts'
export { readPrivateKey } from './private-key.ts'
