/// The error codes that Apple documents for the App Store Server API and retention messages. Each has a name for logs
/// and a sentence for operators.
///
/// Source: Apple, "Error codes" (App Store Server API and Retention Messaging documentation, May 2026).
extension APIErrorCode {
    static let known: [Int64: Meaning] = [
        4_000_000: Meaning(
            "general_bad_request", "The request is not valid. Report this as a bug and name the endpoint."),
        4_000_002: Meaning(
            "invalid_app_identifier",
            "The app identifier is not valid. Check appAppleID and bundleID in the configuration file."),
        4_000_005: Meaning(
            "invalid_request_revision",
            "The App Store did not issue this revision. The history is read from its beginning."),
        4_000_006: Meaning(
            "invalid_transaction_id",
            "The transaction ID is not valid. Use one from a transaction, a receipt or a notification."),
        4_000_008: Meaning(
            "invalid_original_transaction_id",
            "The original transaction ID is not valid. Use one from a transaction or a notification."),
        4_000_009: Meaning("invalid_extend_by_days", "The number of days must be between 1 and 90."),
        4_000_010: Meaning("invalid_extend_reason_code", "The reason for the extension must be between 0 and 3."),
        4_000_011: Meaning(
            "invalid_request_identifier",
            "The request identifier must be a UUID of at most 128 characters."),
        4_000_012: Meaning(
            "start_date_too_far_in_past",
            "The App Store keeps notifications for 180 days, in the sandbox for 30 days. Choose a later start."),
        4_000_013: Meaning(
            "start_date_after_end_date",
            "The start must be before the end. Check the clock of this machine."),
        4_000_014: Meaning(
            "invalid_pagination_token",
            "The App Store did not issue this pagination token. The list is read from its beginning."),
        4_000_015: Meaning("invalid_start_date", "The start date is not valid. Report this as a bug."),
        4_000_016: Meaning("invalid_end_date", "The end date is not valid. Report this as a bug."),
        4_000_017: Meaning(
            "pagination_token_expired",
            "The pagination token has expired. The list is read from its beginning."),
        4_000_018: Meaning(
            "invalid_notification_type",
            "The notification type, or its subtype, is not valid. Use names of App Store Server Notifications V2."),
        4_000_019: Meaning(
            "multiple_filters_supplied",
            "Filter by a notification type or by a transaction, not by both."),
        4_000_020: Meaning(
            "invalid_test_notification_token",
            "The test notification token is not valid. Request another test notification."),
        4_000_021: Meaning("invalid_sort", "The sort order must be ASCENDING or DESCENDING."),
        4_000_022: Meaning("invalid_product_type", "The product type must be one that the App Store Server API lists."),
        4_000_023: Meaning("invalid_product_id", "The product ID is not valid. Use one from App Store Connect."),
        4_000_024: Meaning(
            "invalid_subscription_group_identifier",
            "The subscription group is not valid. Use its ID from App Store Connect."),
        4_000_025: Meaning("invalid_exclude_revoked", "The filter excludeRevoked must be true or false."),
        4_000_026: Meaning("invalid_in_app_ownership_type", "The ownership must be PURCHASED or FAMILY_SHARED."),
        4_000_027: Meaning(
            "invalid_empty_storefront_country_code_list",
            "The list of storefronts is empty. Omit it to include all storefronts."),
        4_000_028: Meaning(
            "invalid_storefront_country_code",
            "A storefront is not a three-letter code (ISO 3166-1 alpha-3)."),
        4_000_030: Meaning("invalid_revoked", "The filter revoked must be true or false."),
        4_000_031: Meaning("invalid_status", "The filter status must be between 1 and 5."),
        4_000_032: Meaning("invalid_account_tenure", "The account tenure must be between 0 and 7."),
        4_000_033: Meaning("invalid_app_account_token", "The account token must be a UUID or empty."),
        4_000_034: Meaning("invalid_consumption_status", "The consumption status must be between 0 and 3."),
        4_000_035: Meaning(
            "invalid_customer_consented",
            "Consumption information may be sent only with the customer's consent."),
        4_000_036: Meaning(
            "invalid_delivery_status",
            "The delivery status must be one that the App Store Server API lists."),
        4_000_037: Meaning("invalid_lifetime_dollars_purchased", "The amount purchased must be between 0 and 7."),
        4_000_038: Meaning("invalid_lifetime_dollars_refunded", "The amount refunded must be between 0 and 7."),
        4_000_039: Meaning("invalid_platform", "The platform must be between 0 and 2."),
        4_000_040: Meaning("invalid_play_time", "The play time must be between 0 and 7."),
        4_000_041: Meaning(
            "invalid_sample_content_provided",
            "The value of sampleContentProvided must be true or false."),
        4_000_042: Meaning("invalid_user_status", "The user status must be between 0 and 4."),
        4_000_043: Meaning(
            "invalid_transaction_not_consumable",
            "The product of the transaction is not consumable, but this endpoint requires a consumable."),
        4_000_047: Meaning(
            "invalid_transaction_type_not_supported",
            "The endpoint does not support transactions of this product type."),
        4_000_048: Meaning(
            "app_transaction_id_not_supported",
            "The endpoint does not take an app transaction ID. Use the ID of a transaction."),
        4_000_161: Meaning(
            "invalid_image",
            "The image is not valid. Upload a PNG without transparency in a permitted size."),
        4_000_162: Meaning("header_too_long", "The header of the message is too long."),
        4_000_163: Meaning("body_too_long", "The body of the message is too long."),
        4_000_164: Meaning("invalid_locale", "The App Store does not support the locale."),
        4_000_175: Meaning("alt_text_too_long", "The alternative text of the image is too long."),
        4_000_183: Meaning("invalid_app_account_token_uuid", "The account token must be a UUID."),
        4_000_185: Meaning(
            "family_transaction_not_supported",
            "The transaction is family-shared. Use a transaction of the purchaser."),
        4_000_187: Meaning(
            "transaction_id_is_not_original",
            "The ID is not an original transaction ID. Use the originalTransactionID of the transaction."),
        4_000_211: Meaning("invalid_performance_test_request", "The request for a performance test is not valid."),
        4_000_212: Meaning("invalid_request_id", "The request ID does not belong to a performance test."),
        4_000_213: Meaning("existing_performance_test_run", "A performance test is running. Wait until it ends."),
        4_000_215: Meaning(
            "bad_request_realtime_url",
            "The URL for retention messages is not valid. It must use https."),
        4_000_216: Meaning("bad_request_image_size", "The size of the image is not permitted."),
        4_000_218: Meaning("bad_request_too_many_bullet_points", "The message has too many bullet points."),
        4_000_219: Meaning("bad_request_bullet_point_text_too_long", "The text of a bullet point is too long."),
        4_000_224: Meaning("bad_request_header_position", "A header above the image requires an image."),
        4_030_004: Meaning(
            "subscription_extension_ineligible",
            "The subscription cannot be extended in its current state."),
        4_030_005: Meaning(
            "subscription_max_extension",
            "The subscription has been extended as often as the App Store permits in a year."),
        4_030_007: Meaning(
            "family_shared_subscription_extension_ineligible",
            "The subscription is family-shared. Extend the purchaser's subscription."),
        4_030_014: Meaning(
            "maximum_number_of_images_reached",
            "The app already has the maximum number of images. Delete one first."),
        4_030_016: Meaning(
            "maximum_number_of_messages_reached",
            "The app already has the maximum number of messages. Delete one first."),
        4_030_017: Meaning("message_not_approved", "The message has not been approved. Wait for the review."),
        4_030_018: Meaning("image_not_approved", "The image has not been approved. Wait for the review."),
        4_030_019: Meaning("image_in_use", "A message uses the image. Delete the message first."),
        4_030_026: Meaning(
            "performance_test_not_passed",
            "Production requires a performance test that passed in the sandbox."),
        4_040_001: Meaning(
            "account_not_found",
            "The customer's Apple Account was not found. It may have been deleted."),
        4_040_002: Meaning(
            "account_not_found_retryable",
            "The customer's Apple Account was not found, perhaps only temporarily. The service tries again."),
        4_040_003: Meaning(
            "app_not_found",
            "The app was not found. Check bundleID, and check that the key belongs to the same team."),
        4_040_004: Meaning(
            "app_not_found_retryable",
            "The app was not found, perhaps only temporarily. The service tries again."),
        4_040_005: Meaning(
            "original_transaction_id_not_found",
            "There is no such original transaction in this environment. The other environment may have it."),
        4_040_006: Meaning(
            "original_transaction_id_not_found_retryable",
            "The original transaction was not found, perhaps only temporarily. The service tries again."),
        4_040_007: Meaning(
            "server_notification_url_not_found",
            "App Store Connect has no URL for notifications in this environment. Enter one under App Information."),
        4_040_008: Meaning(
            "test_notification_not_found",
            "The test notification has no result yet or is older than six months."),
        4_040_009: Meaning("status_request_not_found", "There is no extension request with this identifier."),
        4_040_010: Meaning(
            "transaction_id_not_found",
            "There is no such transaction in this environment. The other environment may have it."),
        4_040_014: Meaning("image_not_found", "There is no image with this identifier. Upload it first."),
        4_040_015: Meaning("message_not_found", "There is no message with this identifier. Upload it first."),
        4_040_018: Meaning("performance_test_run_not_found", "There is no performance test with this identifier."),
        4_040_019: Meaning(
            "app_transaction_does_not_exist",
            "The customer has no app transaction, for example because the app was bought long ago."),
        4_040_020: Meaning("default_message_not_found", "No default message is set for this product and locale."),
        4_040_021: Meaning("realtime_url_not_found", "No URL for retention messages is set."),
        4_090_000: Meaning(
            "image_already_exists", "An image with this identifier already exists. Choose another identifier."),
        4_090_001: Meaning(
            "message_already_exists",
            "A message with this identifier already exists. Choose another identifier."),
        4_290_000: Meaning(
            "rate_limit_exceeded",
            "The app has used up its requests for this hour. The service waits until the App Store accepts more."),
        5_000_000: Meaning(
            "general_internal",
            "The App Store has an internal error. The service tries again a few times."),
        5_000_001: Meaning(
            "general_internal_retryable",
            "The App Store has a temporary internal error. The service tries again."),
    ]
}
