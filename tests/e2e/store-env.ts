/** How to reach the two stores; `bucket` and the keys are those of the S3 server. */
export type StoreAddress = {
  redisUrl: string
  s3: { endpoint: string; bucket: string; region: string; accessKeyId: string; secretAccessKey: string }
}

/** What every service reads to reach its stores. */
export function storeEnv({ redisUrl, s3 }: StoreAddress): Record<string, string> {
  return {
    REMORA_REDIS_URL: redisUrl,
    REMORA_S3_ENDPOINT: s3.endpoint,
    REMORA_S3_BUCKET: s3.bucket,
    REMORA_S3_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
}
