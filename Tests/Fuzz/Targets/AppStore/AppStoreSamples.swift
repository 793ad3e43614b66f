// Written by scripts/app-store-samples. The keys are throw-away test keys, made for these samples only.

/// The certificates and keys that signed the seeds of App Store data, and the digests of what they signed.
enum AppStoreSamples {
    /// In PEM: the leaf, the intermediate and the root of every JWS.
    static let jws = [
        """
        -----BEGIN CERTIFICATE-----
        MIIBwTCCAWigAwIBAgIBATAKBggqhkjOPQQDAjAmMSQwIgYDVQQDDBtUZXN0IERl
        dmVsb3BlciBSZWxhdGlvbnMgQ0EwHhcNMjMxMTE0MjIxMzIwWhcNMjcwMTE1MDgw
        MDAwWjAfMR0wGwYDVQQDDBRUZXN0IFJlY2VpcHQgU2lnbmluZzBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABL5Clcq+ExRWPBD8Q9nkGzHD+fzN9Pnd4uYPqw8P/vh7
        k8+C/6anrOCBn5G/uxDavtonhpxqLd4o4AjgPRZK4SCjgY0wgYowCgYDVR0OBAME
        AQMwDAYDVR0jBAUwA4ABAjAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIHgDAQ
        BgoqhkiG92NkBgsBBAIFADA+BggrBgEFBQcBAQQyMDAwLgYIKwYBBQUHMAGGImh0
        dHA6Ly9vY3NwLmludGVybWVkaWF0ZS50ZXN0L2xlYWYwCgYIKoZIzj0EAwIDRwAw
        RAIgeDoSKwswI6oJL2i+8M5TwrTYX0+f58QJztoTKXmXDiwCICOUvNnSYOA1aty7
        r38nD6KljRUWPW/2FmEsXz94Cyw6
        -----END CERTIFICATE-----
        """,
        """
        -----BEGIN CERTIFICATE-----
        MIIBfjCCASSgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxUZXN0IFJv
        b3QgQ0EwHhcNMjMxMTE0MjIxMzIwWhcNMjcwMTE1MDgwMDAwWjAmMSQwIgYDVQQD
        DBtUZXN0IERldmVsb3BlciBSZWxhdGlvbnMgQ0EwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQD9RdH6BysVoVd+7t5FnMtMwpi8wLTaVMvaFc3bGGOX2mrpumFL2iQ
        Q2L2GTH6LV2pRo63j7ZSmYr5YhlmtdvMo1IwUDAKBgNVHQ4EAwQBAjAMBgNVHSME
        BTADgAEBMBIGA1UdEwEB/wQIMAYBAf8CAQAwDgYDVR0PAQH/BAQDAgEGMBAGCiqG
        SIb3Y2QGAgEEAgUAMAoGCCqGSM49BAMCA0gAMEUCIQCh9BijOCGhSRYGzomwjhKn
        ACpt1SLNVJJhp/82wSbVDwIgHp/b+sePoXeYlhg6JqzIamj/53qbLThRf3Dl3H8g
        JDw=
        -----END CERTIFICATE-----
        """,
        """
        -----BEGIN CERTIFICATE-----
        MIIBTDCB8qADAgECAgEBMAoGCCqGSM49BAMCMBcxFTATBgNVBAMMDFRlc3QgUm9v
        dCBDQTAeFw0yMzExMTQyMjEzMjBaFw0yNzAxMTUwODAwMDBaMBcxFTATBgNVBAMM
        DFRlc3QgUm9vdCBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLGHXlggkzNT
        h/MHZih9fZN6VczmLaFdkCGpMc+odnPYSigdBhYbAzzHMsHpwr8rQ63KC/pQyq9t
        H90g2Hra4oyjLzAtMAoGA1UdDgQDBAEBMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0P
        AQH/BAQDAgEGMAoGCCqGSM49BAMCA0kAMEYCIQCrAOLD8Vx2PhUJbXK+/rmwsqfd
        s127dHj6xhV6z63Z/wIhAI7kQo51QA8BLLNDElNhQuTM74L+xd9Z6vLXv+MwMlpq
        -----END CERTIFICATE-----
        """,
    ]

    /// In PEM: the certificate that signs JWS as Xcode does.
    static let xcode =
        """
        -----BEGIN CERTIFICATE-----
        MIIBODCB3qADAgECAgEBMAoGCCqGSM49BAMCMBMxETAPBgNVBAMMCFN0b3JlS2l0
        MB4XDTIzMTExNDIyMTMyMFoXDTI3MDExNTA4MDAwMFowEzERMA8GA1UEAwwIU3Rv
        cmVLaXQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQhOay949LTgfp+cb+SNfJ9
        CIKrGjnC65l1UvV1IUGwUaFLaQZAXFJeYI9txBrUi+3NBlQBeXgFYTVBJ9lBAVqs
        oyMwITAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIChDAKBggqhkjOPQQD
        AgNJADBGAiEAmwJBhIei1XoM4NpVMih8bHnA2yZdtF+3ST+ap11UiRACIQCkHcYy
        1f7aiwD785qoZ7NzeFG15HGT33kUaEzOk5GYjg==
        -----END CERTIFICATE-----
        """

    /// In PEM: the leaf, the intermediate and the root of receipts, and the certificate that signs them as Xcode does.
    static let receipts = [
        """
        -----BEGIN CERTIFICATE-----
        MIIDDDCCAfSgAwIBAgIBATANBgkqhkiG9w0BAQsFADAmMSQwIgYDVQQDDBtUZXN0
        IERldmVsb3BlciBSZWxhdGlvbnMgQ0EwHhcNMjMxMTE0MjIxMzIwWhcNMjcwMTE1
        MDgwMDAwWjAfMR0wGwYDVQQDDBRUZXN0IFJlY2VpcHQgU2lnbmluZzCCASIwDQYJ
        KoZIhvcNAQEBBQADggEPADCCAQoCggEBANVreIbcf5mEymgcn8xy2h2DoFluVO6d
        XyhB0ehuta+Avj6FSJzKnyaAxXt98cnoT8cHGH78Hp7FYSX6LXJ7Q3/rW60xlQUk
        kHo5hSH90dcn1CrIuNoMc3BjyDAyE4Sz7fVqmZxcYmYlZk4v522f2J1biWTbnICc
        BR7n9F+TiSoxDaeAaaoLUGrssjUvhN7rhDW7fku8NVCphKqwTd0pqE6jJuFNibsn
        kyK1YALUKHGvJbEEWPaDUyb3LQ7BynHfqyG7jx02w//OlXr4Z+LZDKnbegi+mPYl
        LWaP1HFxv7JxUxhhWPPS83jYxu66FaI8M7pBAuGcEBn+Bh1ZpFAwDDMCAwEAAaNM
        MEowCgYDVR0OBAMEAQMwDAYDVR0jBAUwA4ABAjAMBgNVHRMBAf8EAjAAMA4GA1Ud
        DwEB/wQEAwIHgDAQBgoqhkiG92NkBgsBBAIFADANBgkqhkiG9w0BAQsFAAOCAQEA
        AqZEjVfwc0c4bW6MVjYaaQM3VBlBqO75YWbr6NHbPJ4uvQDSx3Wj5HIBIoHnYstO
        Z5AnAfjteE/LAnSyhmYq9+c7csSb4EdTCq/0D3KexKMvJyx7Nw1BisU6AsJKCBnP
        Nla+k2sGJjA+9hytKUMY494q1YC9pJJqJYNUr1efW2UovyThuCO8AQTIjdpS6FAM
        HgtJllINLbTsDRVBN7YubxTg9l6guzUvuhE4dQJYwIFBRcjsD5D5qMe41/i7KnpA
        WywaX1uC5gg2hZ62ddPl7RIaEF2qJJPaIo38NPvtu92mgMMRCJlTkn6DRFYJf5Wc
        7lLcUTyOF8m4nxAiJYZT2Q==
        -----END CERTIFICATE-----
        """,
        """
        -----BEGIN CERTIFICATE-----
        MIIDCjCCAfKgAwIBAgIBATANBgkqhkiG9w0BAQsFADAXMRUwEwYDVQQDDAxUZXN0
        IFJvb3QgQ0EwHhcNMjMxMTE0MjIxMzIwWhcNMjcwMTE1MDgwMDAwWjAmMSQwIgYD
        VQQDDBtUZXN0IERldmVsb3BlciBSZWxhdGlvbnMgQ0EwggEiMA0GCSqGSIb3DQEB
        AQUAA4IBDwAwggEKAoIBAQCujoF5HFq0U0zhBRohG7PDa4CsS80KBaYMN026Er6V
        lVKqPvUolTsRt/5e5TCTOnMUP2LyuJAAxhetbsyub523tpLe1GDSbSZ4g0Q7zadC
        v/Pu5G+Y2wjUbPKmGDSQ+1Rvvj3ElLaDfUxkNkW1glvJ6H0FXNjTraEOWVMyacYW
        6PPTL/veU7XrwKhk3+c5pZ1yia5FV6XeXgUZcHlaWGaPxkabER7HSJOjIO5hJIdb
        FauzkyENxFz13CjemumPYCa9SWwWZfinWHSrYnJav4DxWWmL+zi7lHhkvUL47kPo
        dyD9dxkVYeLvXxNGM3IVoTky+J79WMjbTd2IMGC10FZLAgMBAAGjUjBQMAoGA1Ud
        DgQDBAECMAwGA1UdIwQFMAOAAQEwEgYDVR0TAQH/BAgwBgEB/wIBADAOBgNVHQ8B
        Af8EBAMCAQYwEAYKKoZIhvdjZAYCAQQCBQAwDQYJKoZIhvcNAQELBQADggEBAD5r
        Yen8+NF13dTKt+p9d6cqRmDHB29ZprdwSCiIMDg6l8R/Z7nYfInCstjIClwEqHE1
        ITui5GkJ+Jgka/EoWkIWEWcQAFZD+lfQ3ehOSZOilkMMjLsHnmZVSNwCuqTH8Qhq
        r5VE8AsXcB4K5Gj44GDiTG13CVhrClYvfsaDsQ3NiTKcYAmoXK64G7TzX2Ps8UKO
        ooQrg0InO5ZVxoznBtBHLNXT39U+HOzennFhrfP7pogC8Q6Ot3tjEZ7IoqtxGiP3
        BG7jMuT61OvMM03UqxqUOTs4khMA+jhlrgwXmenvC9LSzlFwZRZ+VPREDaqsM3ZL
        7XJd6n72vXmwTU5heZA=
        -----END CERTIFICATE-----
        """,
        """
        -----BEGIN CERTIFICATE-----
        MIIC2DCCAcCgAwIBAgIBATANBgkqhkiG9w0BAQsFADAXMRUwEwYDVQQDDAxUZXN0
        IFJvb3QgQ0EwHhcNMjMxMTE0MjIxMzIwWhcNMjcwMTE1MDgwMDAwWjAXMRUwEwYD
        VQQDDAxUZXN0IFJvb3QgQ0EwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIB
        AQD3apwcomMEXi2bau7FwYg2JkZ6vkJ6VEXgoTRTTVZww5cYJqd50ARtAX4SmGHM
        Iz39pao7kYCUY7F3BqI69rpwl0w6HaGAKS/ITi4RYNq0JAMc1f36fmwFIJ5isUwS
        DFHExVZJK/FPiJV5G4qtFA6J4AMhQuHVAA6W0t2SNH8M3iKO/HmhazF9mc2FOgql
        QMIeIU/mZEHiSmQHyvVtrpT0p5gdEuU4BD4S+2+rh+8lpTVG9f7XmkaTqFHZuMQw
        mH47IsB7UtvVj9DCsq0aACAWDkBfbA0COxEjHzQzhB4e16pLHq7PGyMlkr/3VCtM
        nj5MOEj9YD8CmcEPAnz94ukLAgMBAAGjLzAtMAoGA1UdDgQDBAEBMA8GA1UdEwEB
        /wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMA0GCSqGSIb3DQEBCwUAA4IBAQAE4L/M
        8gAAMEz7UTHcmGP7jWPqCSiiJ5LdgU6796MtWbSRP2le36TwP4S0+862O2id5ziB
        68ixWERO/I6RyrWdAkV0gkMQVvXP/gNN3MQPA3WfjJGpPHlTJaIRI1x55ilXfX1F
        hc4zjhtVKnAmoob7o1vk+EgytArs5yWgPuHuxBF6dq3rSNtqTLA4MRGrVnylXDtt
        o84vLc9YYZIBLLgWSVxkp1eaxIwKR1E4eC2XT/fBqdTm/jHHbOopvPGef1EBiv4X
        +yGZ/QVT3Pe4aAOYk7+/Ft6wM+wGbYkG3Jfdus8uICMeDz2H6a/DV1qsVJNIGF4m
        M4+UbFUfiKkj8oBO
        -----END CERTIFICATE-----
        """,
        """
        -----BEGIN CERTIFICATE-----
        MIICxDCCAaygAwIBAgIBATANBgkqhkiG9w0BAQsFADATMREwDwYDVQQDDAhTdG9y
        ZUtpdDAeFw0yMzExMTQyMjEzMjBaFw0yNzAxMTUwODAwMDBaMBMxETAPBgNVBAMM
        CFN0b3JlS2l0MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1Wt4htx/
        mYTKaByfzHLaHYOgWW5U7p1fKEHR6G61r4C+PoVInMqfJoDFe33xyehPxwcYfvwe
        nsVhJfotcntDf+tbrTGVBSSQejmFIf3R1yfUKsi42gxzcGPIMDIThLPt9WqZnFxi
        ZiVmTi/nbZ/YnVuJZNucgJwFHuf0X5OJKjENp4BpqgtQauyyNS+E3uuENbt+S7w1
        UKmEqrBN3SmoTqMm4U2JuyeTIrVgAtQoca8lsQRY9oNTJvctDsHKcd+rIbuPHTbD
        /86Vevhn4tkMqdt6CL6Y9iUtZo/UcXG/snFTGGFY89LzeNjG7roVojwzukEC4ZwQ
        Gf4GHVmkUDAMMwIDAQABoyMwITAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQE
        AwIChDANBgkqhkiG9w0BAQsFAAOCAQEAfVFfb/4h72ON8Ob9zGpJyTjeNZ71GUHX
        dls9Oey0cM7EwsH59JOGx8lRj51ybw8h1/NRSoEYpEWJPzJoszS7xRWSPu4607FF
        o4P3P4vAiRzws5k4YvKJ182yJKoezGhRiJ4yr6Tl5SydymOQ8fGbuXjIxTLxNJ5j
        HGPV6zkgInhSHHWHnJyToUa10Uviv5GIppe8Dw1Xu0nOlc2TWLBhGbdLkE82TiWu
        w2O+UkOJB1UiizphZ0T2RYNPUZyV3utObNyBSYVW1L2YA8QD0ulq2ZbfHJ1gQPsZ
        Cktx+23p6fXh+XvMXweh4vcIsUAjmDcRvvKqwYVDKzE+CIVSpcrs7A==
        -----END CERTIFICATE-----
        """,
    ]

    /// In PEM: the private keys of the leaf and the intermediate of JWS.
    static let keys = [
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgx8GhJDbkNN3UYjuA
        nYv4WrmMLjx+FHVqozKTzMJrlAihRANCAAS+QpXKvhMUVjwQ/EPZ5Bsxw/n8zfT5
        3eLmD6sPD/74e5PPgv+mp6zggZ+Rv7sQ2r7aJ4acai3eKOAI4D0WSuEg
        -----END PRIVATE KEY-----
        """,
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYbxjjQnkW9YYsOaa
        ma9u2KDoMMRXMSc90H+HEHGE+buhRANCAAQD9RdH6BysVoVd+7t5FnMtMwpi8wLT
        aVMvaFc3bGGOX2mrpumFL2iQQ2L2GTH6LV2pRo63j7ZSmYr5YhlmtdvM
        -----END PRIVATE KEY-----
        """,
    ]

    /// SHA-256 of the signing inputs of all genuine JWS.
    static let signingInputs: Set = [
        "02801d1d9eea73c96b27e702e7423819357132b1cc594e7aa36c5193b7e2d1de",
        "40424845aa5f8caab7609db13b2b9de0932d9f7019750b2187d0db6066501fd3",
        "56aacd653017fe17da41a52e37da8a039072ace15a1f8cbf7884be04399bc6ce",
        "748761054d99d4dcb97662b0e645aabc11e75f31ac2c019e5c0fe03c4f71b9dd",
        "87856cf1a681f9ae36db16cd5983e0e255b0fb0e4f68eecbfad155b8b6743bee",
        "8bb3870da4ba010947846f777278a768c619256ff583e85f13f9f2de5ca8109e",
        "9b31a94e9a7d6a6db5a7c90c8fa66dd86ba7d316330cbe8a6b66a3e266deb830",
        "b669b96ae236f3cf36d51f7190e89504879c18d8bec120272f9488cd5bc3c04d",
        "b9a8e4e0ee54fee57d08d01d3f4c5f72c5def04080fb686842e611520a74347d",
        "ed54ddbbb0101bce6747c17f918a37b439137b84674794462530d15a0c0f5196",
        "eecc234787ac4f8fe7ac2c0dad79fea806e3343aa7d6339e9de20cdc8fb35d02",
        "f70bf819bba1845a11fb3a050c1b37aa829f1b9b694dc00da6e24e2a7d7a228a",
    ]

    /// SHA-256 of the contents of all genuine receipts.
    static let contents: Set = [
        "16f431eac3f76d3957388c324a03519b15bd1b1df8af8df3ce52d89424242560",
        "24b599e1328e04511a0801068a5351b1cd55a4191e095467b7b60b91e2d6b841",
        "5689b419f16e5b48242306438403fdebda3fe216749ff99a6c95b53557e6dbb6",
        "e79e418e48623569d75e2a7b09ae88ed9b77b126a445b9ff9dc6989a08efa079",
    ]
}
